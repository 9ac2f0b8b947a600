import { type Child, raw } from '../../../core/markup/jsx-runtime.ts'
import { inlineHtml } from '../markdown/inline.ts'
import { codeHtml } from '../markdown/render.ts'
import type { ErrorGuide } from './errorGuide.ts'
import type { FieldView, ResponseView } from './operations.ts'
import type { Sample } from './samples.ts'

// The parts of a page of the reference.

// Texts of the OpenAPI document may have inline Markdown.
export const sameTarget = (href: string) => href
export const InlineMarkdown = ({ text }: { text: string }) => raw(inlineHtml(text, sameTarget))

export const ReferenceSection = ({
  id,
  title,
  children,
}: {
  id: string
  title: string
  children?: Child
}) => (
  <section aria-labelledby={id}>
    <h2 id={id}>
      {title}{' '}
      <a class="anchor" href={`#${id}`} aria-label={`Link to ${title}`}>
        #
      </a>
    </h2>
    {children}
  </section>
)

// One program at a time: the radio buttons choose which one is shown, without a script.
export const SampleTabs = ({ samples, name }: { samples: readonly Sample[]; name: string }) => (
  <fieldset class="samples">
    <legend class="sr">Language of the sample</legend>
    {samples.map(({ title, language }, at) => (
      <>
        <input
          type="radio"
          class={`pick at-${at}`}
          name={`sample-${name}`}
          id={`sample-${name}-${at}`}
          value={language}
          checked={at === 0}
        />
        <label class="chip" for={`sample-${name}-${at}`}>
          {title}
        </label>
      </>
    ))}
    {samples.map(({ code, title, language }, at) => (
      <div class={`pane at-${at}`}>{raw(codeHtml(code, language, `${title} sample`))}</div>
    ))}
  </fieldset>
)

const places = { query: 'query', path: 'path', header: 'header', body: '' }

export const FieldTable = ({ fields }: { fields: readonly FieldView[] }) => (
  <table class="folds fields" role="table">
    <thead role="rowgroup">
      <tr role="row">
        <th role="columnheader" scope="col">
          Name
        </th>
        <th role="columnheader" scope="col">
          Type
        </th>
        <th role="columnheader" scope="col">
          Meaning
        </th>
      </tr>
    </thead>
    <tbody role="rowgroup">
      {fields.map(({ name, place, type, isRequired, description }) => (
        <tr role="row">
          <td role="cell">
            <code>{name}</code>
            {isRequired && <b class="required">required</b>}
            {places[place] && <span class="tiny muted in">{places[place]}</span>}
          </td>
          <td role="cell" data-label="Type">
            {type}
          </td>
          <td role="cell" data-label="Meaning">
            <InlineMarkdown text={description} />
          </td>
        </tr>
      ))}
    </tbody>
  </table>
)

export const AliasTable = ({ fields }: { fields: readonly FieldView[] }) =>
  fields.length === 0 ? (
    ''
  ) : (
    <details>
      <summary>Aliases for old clients ({fields.length})</summary>
      <FieldTable fields={fields} />
    </details>
  )

export const ExampleList = ({ examples, title }: { examples: Record<string, unknown>; title: string }) => (
  <>
    {Object.entries(examples).map(([name, value]) => (
      <details>
        <summary>
          {title}: {name}
        </summary>
        {raw(
          codeHtml(
            typeof value === 'string' ? value : JSON.stringify(value, null, 2),
            'json',
            `${title}: ${name}`,
          ),
        )}
      </details>
    ))}
  </>
)

export const AnswerCard = ({ answer: { http, description, shapes, examples } }: { answer: ResponseView }) => (
  <div class="answer">
    <h3>
      <span class="pill">{http === 'default' ? 'Other' : `HTTP ${http}`}</span>
    </h3>
    <p>
      <InlineMarkdown text={description} />
    </p>
    <ExampleList examples={examples} title="Example" />
    {shapes
      .filter(({ name }) => name !== 'ErrorBody')
      .map(({ name, fields }) =>
        fields.length === 0 ? (
          ''
        ) : (
          <details>
            <summary>
              Fields of {name} ({fields.length})
            </summary>
            <FieldTable fields={fields} />
          </details>
        ),
      )}
  </div>
)

export const ErrorTable = ({ errors, guide }: { errors: readonly ResponseView[]; guide: ErrorGuide }) => (
  <table class="folds" role="table">
    <thead role="rowgroup">
      <tr role="row">
        {['Code', 'Cause', 'Cure'].map(title => (
          <th role="columnheader" scope="col">
            {title}
          </th>
        ))}
      </tr>
    </thead>
    <tbody role="rowgroup">
      {errors.flatMap(({ http, codes }) =>
        codes.map(code => (
          <tr role="row">
            <td role="cell" class="nowrap">
              <a href={`/docs/errors#${code.toLowerCase()}`}>{code}</a>{' '}
              <span class="tiny muted">HTTP {http}</span>
            </td>
            <td role="cell" data-label="Cause">
              <InlineMarkdown text={guide.get(code)?.cause ?? ''} />
            </td>
            <td role="cell" data-label="Cure">
              <InlineMarkdown text={guide.get(code)?.cure ?? ''} />
            </td>
          </tr>
        )),
      )}
    </tbody>
  </table>
)
