//! The web app: the same questions as every view, in a browser on this machine.
