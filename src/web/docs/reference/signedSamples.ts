import type { ApiOperationView, FieldView } from './operations.ts'
import { hmacInShell, type SampleCodes } from './sampleParts.ts'

type NamedValue = [name: string, value: string]

const computed = new Set(['merchant_key', 'time', 'secure_hash'])

// The example values of an operation that signs all of its fields.
function exampleFields({ fields, bodyExamples }: ApiOperationView): NamedValue[] {
  const [body] = Object.values(bodyExamples) as Record<string, unknown>[]
  const valueOf = ({ name, example }: FieldView) => body?.[name] ?? example
  return fields
    .filter(field => !computed.has(field.name) && valueOf(field) !== undefined)
    .map(field => [field.name, String(valueOf(field))])
}

// Operations that sign every field with the time. No SDK has them, so the programs sign themselves.
export function signedFieldsCodes(operation: ApiOperationView): SampleCodes {
  const own = exampleFields(operation)
  const isGet = operation.method === 'GET'
  const { path } = operation
  return {
    curl: curlCode(own, path, isGet),
    node: nodeCode(own, path, isGet),
    php: phpCode(own, path, isGet),
    python: pythonCode(own, path, isGet),
  }
}

const listed = (own: readonly NamedValue[], write: (name: string, value: string) => string) =>
  own.map(([name, value]) => `${write(name, value)},\n`).join('')

function curlCode(own: readonly NamedValue[], path: string, isGet: boolean): string {
  const given: NamedValue[] = [
    ['merchant_key', '$TOLLGATE_MERCHANT_KEY'],
    ['time', '$time'],
  ]
  const pairs = [...own, ...given].map(([name, value]) => `${name}=${value}`).toSorted()
  return `
time=$(date +%s)
text="${pairs.join('&')}"
secure_hash=${hmacInShell('$text')}
curl -sS "$TOLLGATE_URL${path}"${isGet ? ' --get' : ''} \\
${pairs.map(pair => `  --data-urlencode "${pair}"`).join(' \\\n')} \\
  --data-urlencode "secure_hash=$secure_hash"`
}

const nodeCode = (own: readonly NamedValue[], path: string, isGet: boolean) => `
import { createHmac } from 'node:crypto'

const fields = {
${listed(own, (name, value) => `  ${name}: '${value}'`)}  merchant_key: process.env.TOLLGATE_MERCHANT_KEY,
  time: String(Math.floor(Date.now() / 1000)),
}
const text = Object.keys(fields).sort().map(name => \`\${name}=\${fields[name]}\`).join('&')
const secure_hash = createHmac('sha256', process.env.TOLLGATE_MERCHANT_SECRET).update(text).digest('hex')
const signed = new URLSearchParams({ ...fields, secure_hash })
const address = \`\${process.env.TOLLGATE_URL}${path}\`
const answer = await fetch(${isGet ? '`${address}?${signed}`' : "address, { method: 'POST', body: signed }"})
console.log(await answer.text())`

const phpCode = (own: readonly NamedValue[], path: string, isGet: boolean) => `
<?php
$fields = [
${listed(own, (name, value) => `    '${name}' => '${value}'`)}    'merchant_key' => getenv('TOLLGATE_MERCHANT_KEY'),
    'time' => (string) time(),
];
ksort($fields);
$text = implode('&', array_map(fn ($name) => "$name=$fields[$name]", array_keys($fields)));
$fields['secure_hash'] = hash_hmac('sha256', $text, getenv('TOLLGATE_MERCHANT_SECRET'));
$signed = http_build_query($fields);
$address = getenv('TOLLGATE_URL') . '${path}';
${isGet ? phpGet : phpPost}
echo file_get_contents($address, false, stream_context_create(['http' => $http])), "\\n";`

const phpGet = `$address .= "?$signed";
$http = ['ignore_errors' => true];`
const phpPost = `$type = 'Content-Type: application/x-www-form-urlencoded';
$http = ['method' => 'POST', 'header' => $type, 'content' => $signed, 'ignore_errors' => true];`

const pythonCode = (own: readonly NamedValue[], path: string, isGet: boolean) => `
import hashlib, hmac, os, time
from urllib.parse import urlencode
from urllib.request import urlopen

fields = {
${listed(own, (name, value) => `    "${name}": "${value}"`)}    "merchant_key": os.environ["TOLLGATE_MERCHANT_KEY"],
    "time": str(int(time.time())),
}
text = "&".join(f"{name}={fields[name]}" for name in sorted(fields))
secret = os.environ["TOLLGATE_MERCHANT_SECRET"].encode()
fields["secure_hash"] = hmac.new(secret, text.encode(), hashlib.sha256).hexdigest()
address = os.environ["TOLLGATE_URL"] + "${path}"
answer = urlopen(${isGet ? 'address + "?" + urlencode(fields)' : 'address, urlencode(fields).encode()'})
print(answer.read().decode())`
