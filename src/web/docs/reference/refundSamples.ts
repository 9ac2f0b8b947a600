import { nodeClient, phpClient, pythonClient } from './clientSamples.ts'
import { hmacInShell, type SampleCodes } from './sampleParts.ts'

export const refundCodes: SampleCodes = {
  curl: `
refund_id="R-$INVOICE_ID-1" # store it with your order first
amount=10.00
text="amount=$amount&invoice_id=$INVOICE_ID&merchant_key=$TOLLGATE_MERCHANT_KEY&refund_id=$refund_id"
secure_hash=${hmacInShell('$text')}
curl -sS "$TOLLGATE_URL/v1/refunds" -H 'Content-Type: application/json' -d @- <<END
{
  "merchant_key": "$TOLLGATE_MERCHANT_KEY",
  "invoice_id": "$INVOICE_ID",
  "refund_id": "$refund_id",
  "amount": "$amount",
  "reason": "One hat returned",
  "secure_hash": "$secure_hash"
}
END`,
  node: `${nodeClient}

const { state, reference } = await tollgate.refund({
  refundId: \`R-\${process.env.INVOICE_ID}-1\`, // store it with your order first
  invoiceId: process.env.INVOICE_ID,
  amount: '10.00',
  reason: 'One hat returned',
})
console.log(state, reference)`,
  php: `${phpClient}
$refund = $client->refund([
    'refund_id' => 'R-' . getenv('INVOICE_ID') . '-1', // store it with your order first
    'invoice_id' => getenv('INVOICE_ID'),
    'amount' => '10.00',
    'reason' => 'One hat returned',
]);
echo $refund['state'], ' ', $refund['refund_reference'], "\\n";`,
  python: `${pythonClient}
refund = client.refund({
    "refund_id": f"R-{os.environ['INVOICE_ID']}-1",  # store it with your order first
    "invoice_id": os.environ["INVOICE_ID"],
    "amount": "10.00",
    "reason": "One hat returned",
})
print(refund["state"], refund["refund_reference"])`,
}

export const refundCheckCodes: SampleCodes = {
  curl: `
secure_hash=${hmacInShell('merchant_key=$TOLLGATE_MERCHANT_KEY&refund_id=$REFUND_ID')}
curl -sS "$TOLLGATE_URL/v1/refunds/$REFUND_ID" --get \\
  --data-urlencode "merchant_key=$TOLLGATE_MERCHANT_KEY" \\
  --data-urlencode "secure_hash=$secure_hash"`,
  node: `${nodeClient}

const { state, amount, currency } = await tollgate.refundStatus({ refundId: process.env.REFUND_ID })
console.log(state, currency, amount)`,
  php: `${phpClient}
$refund = $client->refundStatus(getenv('REFUND_ID'));
echo $refund['state'], ' ', $refund['currency'], ' ', $refund['amount'], "\\n";`,
  python: `${pythonClient}
refund = client.refund_status(os.environ["REFUND_ID"])
print(refund["state"], refund["currency"], refund["amount"])`,
}
