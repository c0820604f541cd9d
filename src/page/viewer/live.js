// A run that goes on: asks where the page came from for more moments, until it is told how the run ended.
import { grow, run } from './data.js';

// Between two questions [ms].
const PERIOD = 200;

const line = document.getElementById('live');
function say(text) {
  line.hidden = false;
  line.textContent = text;
}

const ask = (address) => fetch(address, { cache: 'no-store' });
const wait = (time) => new Promise((done) => { setTimeout(done, time); });

// Another page takes the place of this one, once it is here in full: the program may be gone by then.
async function replace(leave) {
  const text = await (await ask('/')).text();
  leave();
  document.open();
  document.write(text);
  document.close();
}

// grown(): there are more moments; leave(): another page comes.
export async function follow(grown, leave) {
  if (!run.live) return;
  const { version } = run.live;
  let from = 0;
  say('running');
  try {
    for (;;) {
      const answer = await (await ask(`/moments?version=${version}&from=${from}`)).json();
      if (answer.version !== version) {
        await replace(leave);
        return;
      }
      from += answer.moments.length;
      if (answer.moments.length > 0) {
        grow(answer.moments);
        grown();
      }
      if (from >= answer.count && answer.ended !== null) {
        say(`ended: ${answer.ended}`);
        return;
      }
      if (from >= answer.count) await wait(PERIOD);
    }
  } catch {
    say('ended: the program answers no longer');
  }
}
