import type { FailingEndpoints } from '../../../actions/installation/liveView.ts'
import type { Lang } from '../../../core/languages/languages.ts'
import type { Mode } from '../../../core/mode.ts'
import { resultText } from '../../../core/notification/delivery.ts'
import { cleanText, originOf } from '../../../core/text.ts'
import { storedText } from '../../../core/timeline/storedSentences.ts'
import { OperatorPlacePage } from '../frame/frame.tsx'
import { frameTexts } from '../frame/frameTexts.ts'
import { zonedMinute } from '../frame/zonedTime.ts'
import { operatorBase, type Visit } from '../route.ts'
import { countText } from './figures.ts'
import { liveTexts } from './liveTexts.ts'

const maxWords = 80

type TableProps = { lang: Lang; endpoints: FailingEndpoints; zone: string }

// The endpoints of merchants that do not acknowledge, the one with the most notifications first.
export const EndpointsTable = ({ lang, endpoints, zone }: TableProps) => {
  const texts = liveTexts[lang]
  if (endpoints.length === 0)
    return (
      <p class="empty">
        <span>{texts.noEndpoints}</span>
      </p>
    )
  return (
    <table class="fold">
      <thead>
        <tr>
          <th>{texts.endpoint}</th>
          <th>{texts.lastAnswer}</th>
          <th class="r">{texts.waitingShort}</th>
          <th class="r">{texts.next}</th>
        </tr>
      </thead>
      <tbody>
        {endpoints.map(one => (
          <tr>
            <td>
              <EndpointHost name={originOf(one.url)?.replace(/^https?:\/\//, '') ?? one.lane} />
              <a class="tiny" href={`${operatorBase}/merchants/${one.merchant_id}`}>
                {one.merchant_name}
              </a>
            </td>
            <td>
              {one.last_status ? `${one.last_status}: ` : ''}
              {one.last_result
                ? resultText(one.last_result, lang)
                : cleanText(storedText(one.last_words ?? '', lang), maxWords)}
            </td>
            <td class="r" data-head={texts.waitingShort}>
              {countText(one.waiting, lang)}
            </td>
            <td class="r" data-head={texts.next}>
              {zonedMinute(one.next_try_at, zone)}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}

const EndpointHost = ({ name }: { name: string }) => (
  <span class="endpoint-host" title={name}>
    {name}
  </span>
)

type PageProps = { visit: Visit; mode: Mode; endpoints: FailingEndpoints; zone: string }

export const EndpointsPage = ({ visit, mode, endpoints, zone }: PageProps) => {
  const texts = liveTexts[visit.lang]
  return (
    <OperatorPlacePage visit={visit} title={texts.endpoints} place="live">
      <p class="crumb">
        <a href={`${operatorBase}?mode=${mode}`}>{texts.title}</a>
      </p>
      <div class="title">
        <h1>
          {texts.endpoints} <span class="pill">{frameTexts[visit.lang][mode]}</span>
        </h1>
      </div>
      <section class="card">
        <EndpointsTable lang={visit.lang} endpoints={endpoints} zone={zone} />
      </section>
    </OperatorPlacePage>
  )
}
