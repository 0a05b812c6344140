// Stands before an MCP server, passes everything on, and kills it as soon as a tool is called.
//
//   node mcp_killer.mjs PROGRAM ARGUMENTS…

import { spawn } from 'node:child_process';

const [program, ...words] = process.argv.slice(2);
const server = spawn(program, words, { stdio: ['pipe', 'pipe', 'inherit'] });
server.stdout.pipe(process.stdout);
server.stdin.on('error', () => {});
process.stdin.on('data', (bytes) => {
  server.stdin.write(bytes);
  if (bytes.includes('tools/call')) server.kill('SIGKILL');
});
process.stdin.on('end', () => server.stdin.end());
server.on('exit', () => process.exit(1));
