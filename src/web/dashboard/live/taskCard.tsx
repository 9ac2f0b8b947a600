import type { LiveView } from '../../../actions/installation/liveView.ts'
import { moneyText } from '../../../core/timeline/history.ts'
import { shortAge } from '../frame/zonedTime.ts'
import { operatorBase, type Visit } from '../route.ts'
import { taskPath } from '../tasks/taskPaths.ts'
import { taskTexts } from '../tasks/taskTexts.ts'
import { liveTexts } from './liveTexts.ts'

type TaskCardProps = { visit: Visit; tasks: LiveView['tasks']; open: number; now: Date }

// The newest tasks. Each leads to its page, which has the proposed action.
export const TaskCard = ({ visit: { lang }, tasks, open, now }: TaskCardProps) => {
  const [texts, words] = [liveTexts[lang], taskTexts[lang]]
  return (
    <section class="card">
      <header>
        <h2>
          {texts.tasks} {open > 0 && <span class="count">{open}</span>}
        </h2>
        <a href={`${operatorBase}/tasks`}>{texts.allTasks}</a>
      </header>
      {tasks.length === 0 ? (
        <p class="empty">
          <span>{texts.noTasks}</span>
        </p>
      ) : (
        <ul class="inbox">
          {tasks.map(task => (
            <li>
              <p>
                <b>
                  {words.kinds[task.kind].title}: {task.invoice_id ?? task.tx_reference},{' '}
                  {moneyText(task.currency, task.amount)}
                </b>
                <span class="muted num">{shortAge(task.created_at, now, lang)}</span>
              </p>
              <p class="tiny muted">
                {task.owner_name ?? words.noOwner}. {words.proposed}:{' '}
                <a href={`${operatorBase}${taskPath(task)}`}>{words.kinds[task.kind].propose}</a>
              </p>
            </li>
          ))}
        </ul>
      )}
    </section>
  )
}
