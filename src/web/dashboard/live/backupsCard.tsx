import type { LiveView } from '../../../actions/installation/liveView.ts'
import { isBackupOld, maxBackupHours } from '../../../core/backup/backupAge.ts'
import type { Lang } from '../../../core/languages/languages.ts'
import { fill } from '../../../core/text.ts'
import { Pill } from '../../pages/operatorPage.tsx'
import { shortAge, zonedDayMinute } from '../frame/zonedTime.ts'
import { countText } from './figures.ts'
import { liveTexts } from './liveTexts.ts'

type BackupsProps = { lang: Lang; backup: LiveView['backup']; now: Date; zone: string }

const commands = {
  none: 'tollgate backup --out /var/backups/tollgate/ --verify',
  old: 'tollgate backup --out /var/backups/tollgate/ --verify',
  unverified: 'tollgate backup verify FILE',
}

// The last backup that `tollgate backup` has recorded, and the next step if there is none, or it is old or unverified.
export const BackupsCard = ({ lang, backup, now, zone }: BackupsProps) => {
  const texts = liveTexts[lang]
  const state = !backup ? 'none' : isBackupOld(backup.taken_at, now) ? 'old' : 'good'
  const step = state === 'good' ? !backup?.verified_at && 'unverified' : state
  return (
    <section class="card" aria-labelledby="backups">
      <header>
        <h2 id="backups">{texts.backups}</h2>
        <a href="/docs/backup">{texts.aboutBackups}</a>
      </header>
      {backup ? (
        <BackupFacts lang={lang} backup={backup} now={now} zone={zone} isOld={state === 'old'} />
      ) : (
        <p class="empty">
          <span>{texts.noBackup}</span>
        </p>
      )}
      {step && (
        <p class="step">
          {fill(texts.backupSteps[step], { hours: maxBackupHours })}
          <br />
          <code>{commands[step]}</code>
        </p>
      )}
    </section>
  )
}

type FactsProps = BackupsProps & { backup: NonNullable<LiveView['backup']>; isOld: boolean }

const BackupFacts = ({ lang, backup, now, zone, isOld }: FactsProps) => {
  const { backupFacts: names, backupStates } = liveTexts[lang]
  const { taken_at, verified_at, is_encrypted, payments, bytes } = backup
  return (
    <dl class="facts">
      <dt>{names.last}</dt>
      <dd>
        {zonedDayMinute(taken_at, zone, lang)}, {shortAge(taken_at, now, lang)}{' '}
        <Pill tone={isOld ? 'wait' : 'ok'}>{isOld ? backupStates.old : backupStates.good}</Pill>
      </dd>
      <dt>{names.verified}</dt>
      <dd>{verified_at ? zonedDayMinute(verified_at, zone, lang) : names.never}</dd>
      <dt>{names.encrypted}</dt>
      <dd>{is_encrypted ? names.yes : names.no}</dd>
      <dt>{names.content}</dt>
      <dd>
        {fill(names.payments, { count: countText(Number(payments), lang), size: sizeText(bytes, lang) })}
      </dd>
    </dl>
  )
}

// 48.2 MB
const sizeText = (bytes: bigint, lang: Lang) =>
  new Intl.NumberFormat(lang, { style: 'unit', unit: 'megabyte', maximumFractionDigits: 1 }).format(
    Number(bytes) / 1_000_000,
  )
