import type { ApiOperationView } from './operations.ts'
import type { SampleCodes } from './sampleParts.ts'

// The part of a path in braces is an environment variable: {token} is $TOKEN.
export function plainGetCodes({ path, id }: ApiOperationView): SampleCodes {
  const [, name = ''] = /\{(\w+)\}/.exec(path) ?? []
  const variable = name.toUpperCase()
  const filled = (text: string) => path.replace(`{${name}}`, text)
  const isSecret = id === 'readMetrics'
  const token = 'TOLLGATE_METRICS_TOKEN'
  return {
    curl: `curl -sS ${isSecret ? `-H "Authorization: Bearer $${token}" ` : ''}"$TOLLGATE_URL${filled(`$${variable}`)}"`,
    node: `
const answer = await fetch(\`\${process.env.TOLLGATE_URL}${filled(`\${process.env.${variable}}`)}\`${
      isSecret
        ? `, {
  headers: { Authorization: \`Bearer \${process.env.${token}}\` },
}`
        : ''
    })
console.log(await answer.text())`,
    php: `
<?php
$context = stream_context_create(['http' => ['ignore_errors' => true${isSecret ? `, 'header' => 'Authorization: Bearer ' . getenv('${token}')` : ''}]]);
echo file_get_contents(getenv('TOLLGATE_URL') . '${filled(`' . getenv('${variable}') . '`)}', false, $context), "\\n";`,
    python: `
import os
from urllib.request import Request, urlopen

headers = {${isSecret ? `"Authorization": f"Bearer {os.environ['${token}']}"` : ''}}
request = Request(os.environ["TOLLGATE_URL"] + "${filled(`" + os.environ["${variable}"] + "`)}", headers=headers)
print(urlopen(request).read().decode())`,
  }
}
