// What the real program makes of sessions that were renamed, moved, relocated, forked and merged.
//
// A scenario with `since` needs that release or a later one. Each gets a kit for a home of its own:
//   kit.home                        the home's folder
//   kit.folder(name)                makes a folder below the home and returns its path
//   kit.agent.say(project, prompt, reply, id?) a new session, under an id of its own if one is given; returns its id
//   kit.agent.list(project)         what `--list-sessions` prints there
//   kit.agent.resume(project, id, prompt)      { output, requests: bodies of the conversation's requests }
//   kit.agent.delete(project, id)   `--delete-session`
//   kit.recount(args)               { code, stdout, stderr, json }

import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';

/** Every text in the last request. */
const told = (requests) => JSON.stringify(requests.at(-1)?.contents ?? []);

/** Runs recount, which must succeed. */
async function done(kit, ...args) {
  const result = await kit.recount(args);
  assert.equal(result.code, 0, `recount ${args.join(' ')}: ${result.stderr}`);
  return result;
}

/** The agent goes on with a session, and knows what was said in it. */
async function knows(kit, project, id, ...words) {
  const { requests } = await kit.agent.resume(project, id, 'And now?');
  for (const word of words) assert.ok(told(requests).includes(word), `${word} is not in the context`);
}

export const scenarios = [
  {
    name: 'a title is shown where the agent lists sessions, and taken away again',
    async run(kit) {
      const shop = kit.folder('code/shop');
      const id = await kit.agent.say(shop, 'Count the plums.', 'There are twelve plums.');
      await done(kit, 'rename', id, 'Pflaumen zählen 梅', '--yes');
      assert.match(await kit.agent.list(shop), /1\. Pflaumen zählen 梅 \(/);
      await knows(kit, shop, id, 'twelve plums');
      await done(kit, 'rename', id, '--clear', '--yes');
      assert.match(await kit.agent.list(shop), /1\. Count the plums\. \(/);
    },
  },
  {
    name: 'a log that ends in the middle of a line keeps what is said after a rename',
    since: '0.39.0',
    async run(kit) {
      const shop = kit.folder('code/shop');
      const id = await kit.agent.say(shop, 'Count the plums.', 'There are twelve plums.');
      const chats = path.join(kit.home, '.gemini/tmp/shop/chats');
      const [name] = fs.readdirSync(chats).filter((name) => name.endsWith(`${id.slice(0, 8)}.jsonl`));
      fs.appendFileSync(path.join(chats, name), '{"id":"torn","type":"us');
      await done(kit, 'rename', id, 'Torn', '--yes');
      assert.match(await kit.agent.list(shop), /1\. Torn \(/);
      await knows(kit, shop, id, 'twelve plums');
      await knows(kit, shop, id, 'twelve plums', 'And now?');
    },
  },
  {
    name: 'a session goes to a project that the agent was never used in',
    async run(kit) {
      const shop = kit.folder('code/shop');
      const store = kit.folder('code/store');
      const id = await kit.agent.say(shop, 'Count the plums.', 'There are twelve plums.');
      const other = await kit.agent.say(shop, 'Count the pears.', 'There are three pears.');
      await done(kit, 'move', id, '--to', store, '--yes');
      const here = await kit.agent.list(shop);
      assert.ok(!here.includes(id) && here.includes(other), here);
      assert.ok((await kit.agent.list(store)).includes(id));
      await knows(kit, store, id, 'twelve plums');
      assert.ok((await kit.agent.list(shop)).includes(other));
    },
  },
  {
    name: 'and to one that it knows',
    async run(kit) {
      const shop = kit.folder('code/shop');
      const store = kit.folder('code/store');
      const id = await kit.agent.say(shop, 'Count the plums.', 'There are twelve plums.');
      const other = await kit.agent.say(store, 'Count the pears.', 'There are three pears.');
      await done(kit, 'move', id, '--to', 'store', '--yes');
      const there = await kit.agent.list(store);
      assert.ok(there.includes(id) && there.includes(other), there);
      await knows(kit, store, id, 'twelve plums');
      await knows(kit, store, other, 'three pears');
      await done(kit, 'move', id, '--to', shop, '--yes');
      await knows(kit, shop, id, 'twelve plums');
    },
  },
  {
    name: 'a folder that was renamed keeps its sessions',
    async run(kit) {
      const shop = kit.folder('code/shop');
      const id = await kit.agent.say(shop, 'Count the plums.', 'There are twelve plums.');
      const store = path.join(kit.home, 'code/store');
      fs.renameSync(shop, store);
      await done(kit, 'relocate', shop, store, '--yes');
      assert.ok((await kit.agent.list(store)).includes(id));
      await knows(kit, store, id, 'twelve plums');
      const projects = JSON.parse(fs.readFileSync(path.join(kit.home, '.gemini/projects.json'), 'utf8'));
      assert.deepEqual(projects, { projects: { [store]: 'shop' } });
    },
  },
  {
    name: 'and when the agent was used in the new folder already, both are one',
    async run(kit) {
      const shop = kit.folder('code/shop');
      const store = kit.folder('code/store');
      const id = await kit.agent.say(shop, 'Count the plums.', 'There are twelve plums.');
      const other = await kit.agent.say(store, 'Count the pears.', 'There are three pears.');
      fs.rmSync(shop, { recursive: true });
      await done(kit, 'relocate', shop, store, '--yes');
      const there = await kit.agent.list(store);
      assert.ok(there.includes(id) && there.includes(other), there);
      await knows(kit, store, id, 'twelve plums');
      await knows(kit, store, other, 'three pears');
      const projects = JSON.parse(fs.readFileSync(path.join(kit.home, '.gemini/projects.json'), 'utf8'));
      assert.deepEqual(projects, { projects: { [store]: 'store' } });
    },
  },
  {
    name: 'a fork goes on by itself, as far as it was wanted',
    since: '0.39.0',
    async run(kit) {
      const shop = kit.folder('code/shop');
      const id = await kit.agent.say(shop, 'Count the plums.', 'There are twelve plums.');
      await kit.agent.resume(shop, id, 'Count the pears, too.');
      const forked = (await done(kit, 'fork', id, '--at', '1', '--yes', '--json')).json.sessions[0].id;
      const listed = await kit.agent.list(shop);
      assert.ok(listed.includes(id) && listed.includes(forked), listed);
      assert.match(listed, /\(fork\)/);
      const { requests } = await kit.agent.resume(shop, forked, 'And now?');
      assert.ok(told(requests).includes('twelve plums') && !told(requests).includes('Count the pears'));
      await knows(kit, shop, id, 'Count the pears');
    },
  },
  {
    name: 'a fork goes on in another project',
    since: '0.39.0',
    async run(kit) {
      const shop = kit.folder('code/shop');
      const store = kit.folder('code/store');
      const id = await kit.agent.say(shop, 'Count the plums.', 'There are twelve plums.');
      const args = ['fork', id, '--to', store, '--title', 'Plums elsewhere', '--yes', '--json'];
      const forked = (await done(kit, ...args)).json.sessions[0].id;
      assert.match(await kit.agent.list(store), /1\. Plums elsewhere \(/);
      await knows(kit, store, forked, 'twelve plums');
      await knows(kit, shop, id, 'twelve plums');
    },
  },
  {
    name: 'sessions that are made into one are told one after the other',
    since: '0.39.0',
    async run(kit) {
      const shop = kit.folder('code/shop');
      const plums = await kit.agent.say(shop, 'Count the plums.', 'There are twelve plums.');
      const pears = await kit.agent.say(shop, 'Count the pears.', 'There are three pears.');
      const merged = (await done(kit, 'merge', pears, plums, '--yes', '--json')).json.sessions[0].id;
      const listed = await kit.agent.list(shop);
      assert.ok(listed.includes(merged) && !listed.includes(plums) && !listed.includes(pears), listed);
      const { requests } = await kit.agent.resume(shop, merged, 'And now?');
      const text = told(requests);
      assert.ok(text.indexOf('twelve plums') > 0 && text.indexOf('twelve plums') < text.indexOf('three pears'), text);
    },
  },
  {
    name: 'a session whose name would meet another is not deleted with it',
    since: '0.41.0',
    async run(kit) {
      const shop = kit.folder('code/shop');
      const store = kit.folder('code/store');
      const first = 'aaaaaaaa-1111-4111-8111-111111111111';
      const second = 'aaaaaaaa-2222-4222-8222-222222222222';
      for (const [project, id] of [[shop, first], [store, second]]) {
        const made = await kit.agent.say(project, 'Count the plums.', 'There are twelve plums.', id);
        assert.equal(made, id);
      }
      await done(kit, 'move', first, '--to', store, '--yes');
      assert.ok((await kit.agent.list(store)).includes(first));
      await kit.agent.delete(store, second);
      const left = await kit.agent.list(store);
      assert.ok(left.includes(first) && !left.includes(second), left);
      await knows(kit, store, first, 'twelve plums');
    },
  },
];
