import { nodeClient, phpClient, pythonClient } from './clientSamples.ts'
import type { ApiOperationView } from './operations.ts'
import { plainGetCodes } from './plainSamples.ts'
import { refundCheckCodes, refundCodes } from './refundSamples.ts'
import { hmacInShell, type SampleCodes } from './sampleParts.ts'
import { signedFieldsCodes } from './signedSamples.ts'

// Programs that call an operation. A test runs each of them against a gateway.
export type Sample = { language: 'sh' | 'js' | 'php' | 'python'; title: string; code: string }

export function samplesOf(operation: ApiOperationView): Sample[] {
  if (operation.path === '') return []
  if (operation.id === 'initiatePayment') return samples(initiate)
  if (operation.tag === 'Web forms') return samples(webForm(operation))
  if (operation.signature === 'refund') return samples(refundCodes)
  if (operation.signature === 'refund_check') return samples(refundCheckCodes)
  if (operation.signature === 'status') return samples(statusCheck(operation))
  if (operation.signature === 'feed') return samples(feed)
  return samples(operation.signature === 'fields' ? signedFieldsCodes(operation) : plainGetCodes(operation))
}

const samples = ({ curl, node, php, python }: SampleCodes): Sample[] => [
  { language: 'sh', title: 'curl', code: curl.trim() },
  { language: 'js', title: 'Node', code: node.trim() },
  { language: 'php', title: 'PHP', code: php.trim() },
  { language: 'python', title: 'Python', code: python.trim() },
]

const initiate: SampleCodes = {
  curl: `
invoice_id="SH-$(date +%s)"
total=25.00
text="invoice_id=$invoice_id&merchant_key=$TOLLGATE_MERCHANT_KEY&total=$total"
secure_hash=${hmacInShell('$text')}
curl -sS "$TOLLGATE_URL/v1/mobile_agents_v2" -H 'Content-Type: application/json' -d @- <<END
{
  "merchant_key": "$TOLLGATE_MERCHANT_KEY",
  "invoice_id": "$invoice_id",
  "total": "$total",
  "description": "Two straw hats",
  "generate_checkout_url": true,
  "secure_hash": "$secure_hash"
}
END`,
  node: `${nodeClient}

const { checkoutUrl, reference } = await tollgate.initiate({
  invoiceId: \`JS-\${Date.now()}\`, // store it with your order first
  total: '25.00',
  description: 'Two straw hats',
})
console.log(reference, checkoutUrl)`,
  php: `${phpClient}
$stored = $client->initiate([
    'invoice_id' => 'PHP-' . time(), // store it with your order first
    'total' => '25.00',
    'description' => 'Two straw hats',
]);
echo $stored['tx_reference'], ' ', $stored['checkout_url'], "\\n";`,
  python: `${pythonClient}
stored = client.initiate({
    "invoice_id": f"PY-{int(time.time())}",  # store it with your order first
    "total": "25.00",
    "description": "Two straw hats",
})
print(stored["tx_reference"], stored["checkout_url"])`,
}

// The SDKs use the address with /v1, and compare what the merchant has to compare.
const statusCheck = ({ method, path }: ApiOperationView): SampleCodes => ({
  curl: `
text="invoice_id=$INVOICE_ID&merchant_key=$TOLLGATE_MERCHANT_KEY"
secure_hash=${hmacInShell('$text')}
curl -sS "$TOLLGATE_URL${path}"${method === 'GET' ? ' --get' : ''} \\
  --data-urlencode "merchant_key=$TOLLGATE_MERCHANT_KEY" \\
  --data-urlencode "invoice_id=$INVOICE_ID" \\
  --data-urlencode "secure_hash=$secure_hash"`,
  node: `${nodeClient}

const payment = await tollgate.status({ invoiceId: process.env.INVOICE_ID })
const isPaid = payment.status === 'paid' && payment.amountMinor === 2500 && payment.currency === 'GHS'
console.log(payment.status, isPaid ? 'Deliver it' : 'Do not deliver yet')`,
  php: `${phpClient}
$payment = $client->status(getenv('INVOICE_ID'));
$isPaid = $payment['status'] === 'paid' && $payment['amount'] === '25.00' && $payment['currency'] === 'GHS';
echo $payment['status'], ' ', $isPaid ? 'Deliver it' : 'Do not deliver yet', "\\n";`,
  python: `${pythonClient}
payment = client.status(os.environ["INVOICE_ID"])
is_paid = payment["status"] == "paid" and payment["amount"] == "25.00" and payment["currency"] == "GHS"
print(payment["status"], "Deliver it" if is_paid else "Do not deliver yet")`,
})

const feed: SampleCodes = {
  curl: `
after= # the value of next in your last answer
t=$(date +%s)
signature=${hmacInShell('$t.$TOLLGATE_MERCHANT_KEY.$after.')}
curl -sS "$TOLLGATE_URL/v1/events" --get -H "x-tollgate-signature: t=$t,v1=$signature" \\
  --data-urlencode "merchant_key=$TOLLGATE_MERCHANT_KEY" --data-urlencode "after=$after"`,
  node: `${nodeClient}

let cursor = '' // load the stored value
for await (const event of tollgate.events({ after: cursor })) {
  console.log(event.type, event.invoiceId, event.status)
  cursor = event.cursor // store it
}
console.log('Continue after', cursor)`,
  php: `${phpClient}
$cursor = ''; // load the stored value
foreach ($client->events($cursor) as $event) {
    echo "{$event['type']} {$event['data']['invoice_id']} {$event['status']}\\n";
    $cursor = $event['cursor']; // store it
}
echo "Continue after $cursor\\n";`,
  python: `${pythonClient}
cursor = ""  # load the stored value
for event in client.events(cursor):
    print(event["type"], event["data"]["invoice_id"], event["status"])
    cursor = event["cursor"]  # store it
print("Continue after", cursor)`,
}

// A form in the shop: the server signs, and the customer's browser sends.
const webForm = ({ method, path }: ApiOperationView): SampleCodes => ({
  curl: `
invoice_id="FORM-$(date +%s)"
text="invoice_id=$invoice_id&merchant_key=$TOLLGATE_MERCHANT_KEY&total=25.00"
secure_hash=${hmacInShell('$text')}
curl -sS -o /dev/null -w 'Go to %{redirect_url}\\n' "$TOLLGATE_URL${path}"${method === 'GET' ? ' --get' : ''} \\
  --data-urlencode "merchant_key=$TOLLGATE_MERCHANT_KEY" --data-urlencode "invoice_id=$invoice_id" \\
  --data-urlencode "total=25.00" --data-urlencode "secure_hash=$secure_hash"`,
  node: `${nodeClient}

const invoiceId = \`JS-\${Date.now()}\`
const { hash } = await tollgate.sign({ invoiceId, total: '25.00' })
console.log(\`<form method="${method.toLowerCase()}" action="\${process.env.TOLLGATE_URL}${path}">
  <input type="hidden" name="merchant_key" value="\${process.env.TOLLGATE_MERCHANT_KEY}">
  <input type="hidden" name="invoice_id" value="\${invoiceId}">
  <input type="hidden" name="total" value="25.00">
  <input type="hidden" name="secure_hash" value="\${hash}">
  <button>Pay GHS 25.00</button>
</form>\`)`,
  php: `${phpClient}
$invoiceId = 'PHP-' . time();
$signed = $client->sign(['invoice_id' => $invoiceId, 'total' => '25.00']);
?>
<form method="${method.toLowerCase()}" action="<?= getenv('TOLLGATE_URL') ?>${path}">
  <input type="hidden" name="merchant_key" value="<?= getenv('TOLLGATE_MERCHANT_KEY') ?>">
  <input type="hidden" name="invoice_id" value="<?= $invoiceId ?>">
  <input type="hidden" name="total" value="25.00">
  <input type="hidden" name="secure_hash" value="<?= $signed->hash ?>">
  <button>Pay GHS 25.00</button>
</form>`,
  python: `${pythonClient}
invoice_id = f"PY-{int(time.time())}"
signed = client.sign({"invoice_id": invoice_id, "total": "25.00"})
print(f"""<form method="${method.toLowerCase()}" action="{os.environ["TOLLGATE_URL"]}${path}">
  <input type="hidden" name="merchant_key" value="{os.environ["TOLLGATE_MERCHANT_KEY"]}">
  <input type="hidden" name="invoice_id" value="{invoice_id}">
  <input type="hidden" name="total" value="25.00">
  <input type="hidden" name="secure_hash" value="{signed.hash}">
  <button>Pay GHS 25.00</button>
</form>""")`,
})
