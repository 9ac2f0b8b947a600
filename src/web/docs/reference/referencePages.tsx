import { DocsFrame, type DocsSite, OnThisPage, Prose, referencePath } from '../docsFrame.tsx'
import { parseMarkdown } from '../markdown/blocks.ts'
import { renderBlocks } from '../markdown/render.ts'
import type { ErrorGuide } from './errorGuide.ts'
import type { ApiDocument, ApiOperationView } from './operations.ts'
import {
  AliasTable,
  AnswerCard,
  ErrorTable,
  ExampleList,
  FieldTable,
  InlineMarkdown,
  ReferenceSection,
  SampleTabs,
  sameTarget,
} from './referenceParts.tsx'
import { type Sample, samplesOf } from './samples.ts'
import { TryOut } from './tryOut.tsx'

export type Reference = {
  document: ApiDocument
  operations: readonly ApiOperationView[]
  guide: ErrorGuide
  handlers: readonly Sample[] // endpoints for notifications, of the SDKs
}

export const operationPath = ({ id }: Pick<ApiOperationView, 'id'>) => `${referencePath}/${id}`

const Method = ({ operation: { method, path } }: { operation: ApiOperationView }) => (
  <span class={`method-word ${path === '' ? 'sent' : method.toLowerCase()}`}>
    {path === '' ? 'sent to you' : method}
  </span>
)

// The start of the reference: what holds for every operation, and the list of them.
export const ReferencePage = ({ site, reference }: { site: DocsSite; reference: Reference }) => {
  const { document, operations } = reference
  const blocks = parseMarkdown(document.info.description)
  const entries = blocks.flatMap(block =>
    block.kind === 'heading' ? [{ id: block.id, text: block.text, level: 2 }] : [],
  )
  return (
    <DocsFrame
      site={site}
      title="API reference"
      path={referencePath}
      aside={<OnThisPage entries={[{ id: 'operations', text: 'Operations', level: 2 }, ...entries]} />}
    >
      <div class="docs-intro">
        <h1>API reference</h1>
        <p class="muted">
          Generated from <a href="/openapi.json">/openapi.json</a> of this gateway, which programs can read.
        </p>
      </div>
      <section class="card roomy" aria-labelledby="operations">
        <h2 id="operations">Operations</h2>
        {document.tags.map(({ name, description }) => (
          <>
            <h3>{name}</h3>
            <p class="small muted">{description}</p>
            <ul class="operations">
              {operations
                .filter(({ tag }) => tag === name)
                .map(operation => (
                  <li>
                    <a href={operationPath(operation)}>
                      <Method operation={operation} />
                      <code>{operation.path || 'ipn_url'}</code>
                      <span class="small">{operation.summary}</span>
                    </a>
                  </li>
                ))}
            </ul>
          </>
        ))}
      </section>
      <section class="card roomy">
        <Prose html={renderBlocks(blocks, { targetOf: sameTarget })} />
      </section>
    </DocsFrame>
  )
}

type OperationPageProps = { site: DocsSite; reference: Reference; operation: ApiOperationView }

// One operation: how to call it, its fields, its answers and its errors.
export const OperationPage = ({ site, reference, operation }: OperationPageProps) => {
  const { id, path, summary, description, fields, responses, bodyExamples } = operation
  const samples = path === '' ? reference.handlers : samplesOf(operation)
  const answers = responses.filter(({ http }) => http < '400' || http === 'default')
  const errors = responses.filter(({ codes }) => codes.length > 0)
  const entries = [
    operation.signature && { id: 'try-it-out', text: 'Try it out' },
    samples.length > 0 && { id: 'samples', text: 'Samples' },
    fields.length > 0 && { id: 'fields', text: 'Fields' },
    { id: 'answers', text: 'Answers' },
    errors.length > 0 && { id: 'errors', text: 'Errors' },
  ].filter(entry => !!entry)
  return (
    <DocsFrame
      site={site}
      title={summary}
      path={operationPath({ id })}
      aside={<OnThisPage entries={entries.map(entry => ({ ...entry, level: 2 }))} />}
      scripts={operation.signature ? ['/docs/try.js'] : []}
    >
      <nav class="crumb" aria-label="Breadcrumb">
        <a href={referencePath}>API reference</a> <span class="muted">/ {operation.tag}</span>
      </nav>
      <article class="card roomy prose">
        <h1>{summary}</h1>
        <p class="address">
          <Method operation={operation} />
          <code>{path || 'your ipn_url'}</code>
        </p>
        <p>
          <InlineMarkdown text={description} />
        </p>
        {samples.length > 0 && (
          <ReferenceSection id="samples" title="Samples">
            <SampleTabs samples={samples} name={id} />
          </ReferenceSection>
        )}
        {operation.signature && (
          <ReferenceSection id="try-it-out" title="Try it out">
            <TryOut operation={operation} />
          </ReferenceSection>
        )}
        {fields.length > 0 && (
          <ReferenceSection id="fields" title="Fields">
            <FieldTable fields={fields.filter(({ isAlias }) => !isAlias)} />
            <AliasTable fields={fields.filter(({ isAlias }) => isAlias)} />
            <ExampleList examples={bodyExamples} title="Example of a body" />
          </ReferenceSection>
        )}
        <ReferenceSection id="answers" title="Answers">
          {answers.map(answer => (
            <AnswerCard answer={answer} />
          ))}
        </ReferenceSection>
        {errors.length > 0 && (
          <ReferenceSection id="errors" title="Errors">
            <ErrorTable errors={errors} guide={reference.guide} />
          </ReferenceSection>
        )}
      </article>
    </DocsFrame>
  )
}
