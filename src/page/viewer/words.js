// What the page says in words: title, facts, and which parts of it there is something for.
import { design, moving, optimization, run, summary, times } from './data.js';
import { numberText } from './numbers.js';

const $ = (id) => document.getElementById(id);
const counted = (n, word) => `${n} ${word}${n === 1 ? '' : 's'}`;

function facts() {
  const last = times.length - 1;
  const list = [counted(moving.length, 'moving link')];
  if (summary?.model) list.push(`${counted(summary.model.degrees_of_freedom, 'degree')} of freedom`);
  if (last > 0) list.push(`${numberText(times[last])} s, ${counted(times.length, 'moment')}`);
  if (optimization) list.push(`loss ${numberText(optimization.initial_loss)} → ${numberText(optimization.best_loss)}`);
  if (summary?.program) list.push(`sdrs ${summary.program.version}`);
  return list.join(' · ');
}

$('name').textContent = optimization ? `${optimization.task}: best design` : run.name;
export function showFacts() {
  $('facts').textContent = facts();
}
showFacts();
$('time-row').hidden = times.length === 1 && !run.live;
$('design-row').hidden = !design;
$('thinned').hidden = run.live || times.length === run.recorded;
$('thinned').textContent = `The page holds ${times.length} of ${run.recorded} recorded moments.`;
for (const element of document.querySelectorAll('.of-design')) element.hidden = !design;
