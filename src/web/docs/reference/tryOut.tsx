import { CopyButton, Icon } from '../../../core/markup/page.tsx'
import type { ApiOperationView, FieldView } from './operations.ts'

// The fields that the form offers, with their first values. The script signs and adds the rest.
const firstValues: Record<string, string> = {
  total: '25.00',
  amount: '10.00',
  description: 'Two straw hats',
  number: '0241234567',
}
const offered: Partial<Record<string, readonly string[]>> = {
  initiatePayment: [
    'invoice_id',
    'total',
    'currency',
    'description',
    'number',
    'email',
    'ipn_url',
    'success_url',
  ],
}
const computed = new Set(['merchant_key', 'secure_hash', 'time', 'x-tollgate-signature'])

function fieldsFor({ id, fields, tag }: ApiOperationView): FieldView[] {
  const names = offered[tag === 'Web forms' ? 'initiatePayment' : id]
  return fields.filter(
    ({ name, isAlias }) =>
      !isAlias && !computed.has(name) && !name.includes('…') && (!names || names.includes(name)),
  )
}

// Signs in the browser: the secret is never sent. docs/public/try.js reads the data attributes.
export const TryOut = ({ operation }: { operation: ApiOperationView }) => {
  const { id, method, path, signature, bodyExamples } = operation
  const [example = {}] = Object.values(bodyExamples) as Record<string, unknown>[]
  const isWebForm = operation.tag === 'Web forms'
  return (
    <form
      class="try"
      autocomplete="off"
      data-method={method}
      data-path={path}
      data-scheme={signature}
      data-body={
        method === 'GET'
          ? undefined
          : operation.fields.some(({ place }) => place === 'body')
            ? 'json'
            : 'form'
      }
      data-page={isWebForm ? 'true' : undefined}
    >
      <p class="small try-off">
        This form signs in your browser, so it needs scripts. Without them, use the curl sample above.
      </p>
      <div class="try-on" hidden>
        <p class="small muted">
          With a test key: no real money moves. The secret key stays in this page; only the hash is sent.
        </p>
        <p class="notice small" data-fault hidden role="alert">
          <Icon name="alert" />
          <span></span>
        </p>
        <div class="try-fields">
          <TextField id={id} name="merchant_key" hint="Begins with tk_" isRequired />
          <TextField id={id} name="secret_key" hint="Never sent" isRequired isSecret />
          {fieldsFor(operation).map(({ name, isRequired }) => (
            <TextField
              id={id}
              name={name}
              isRequired={isRequired}
              value={firstValues[name] ?? (signature === 'fields' ? textOf(example[name]) : undefined)}
              isSent
            />
          ))}
        </div>
        <div class="row">
          <button class="btn" type="submit">
            Sign and send
          </button>
          <span class="small muted" data-demo hidden>
            Filled in for the demo shop of this machine.
          </span>
        </div>
        <div class="try-result" data-result hidden aria-live="polite">
          <Output name="string" title="Signed text" />
          <Output name="hash" title="Hash: HMAC-SHA-256 with the secret key, in hexadecimal" />
          <Output name="curl" title="The request as curl" />
          <Output name="answer" title="Answer" />
          <p class="row" data-next hidden>
            <a class="btn" href="/docs">
              Open the checkout page
            </a>
          </p>
        </div>
      </div>
    </form>
  )
}

const textOf = (value: unknown) => (value === undefined ? undefined : String(value))

type TextFieldProps = {
  id: string
  name: string
  hint?: string
  value?: string
  isRequired?: boolean
  isSecret?: boolean
  isSent?: boolean
}

const TextField = ({ id, name, hint, value, isRequired, isSecret, isSent }: TextFieldProps) => (
  <div class="field">
    <label for={`try-${id}-${name}`}>
      <code>{name}</code>
    </label>
    <input
      class="input dense"
      id={`try-${id}-${name}`}
      name={name}
      value={value}
      required={isRequired}
      type={isSecret ? 'password' : 'text'}
      autocomplete="off"
      spellcheck={false}
      data-sent={isSent ? 'true' : undefined}
      aria-describedby={hint ? `try-${id}-${name}-hint` : undefined}
    />
    {hint && (
      <span class="hint" id={`try-${id}-${name}-hint`}>
        {hint}
      </span>
    )}
  </div>
)

const Output = ({ name, title }: { name: string; title: string }) => (
  <div class="output">
    <p class="label small">{title}</p>
    <div class="code">
      <pre tabindex={0} role="group" aria-label={title}>
        <code data-output={name}></code>
      </pre>
      <CopyButton />
    </div>
  </div>
)
