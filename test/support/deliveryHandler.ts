import { Webhook } from 'standardwebhooks'
import type { Credentials } from './gateway/gateway.ts'
import { checkStatus } from './merchant/merchant.ts'
import { openReceiver } from './merchant/receiver.ts'

type Fields = Record<string, unknown>
export type Heard = { told: Fields; asked: Fields }

// The program of a shop as the contract describes it: checks who speaks, says thanks, then asks how the payment stands.
export async function openHandler(gatewayUrl: string, { merchant_key, ipn_secret }: Credentials) {
  const heard: Heard[] = []
  const refused: string[] = []
  const receiver = await openReceiver(({ body, headers, id }, response) => {
    let told: Fields
    try {
      told = new Webhook(ipn_secret).verify(body, headers as Record<string, string>) as Fields
    } catch {
      refused.push(id)
      response.writeHead(401).end()
      return
    }
    response.end('thanks')
    void ask(told)
  })

  async function ask(told: Fields) {
    const { body } = await checkStatus(gatewayUrl, { merchant_key, invoice_id: String(told.invoice_id) })
    heard.push({ told, asked: body as Fields })
  }

  return { url: `${receiver.url}/ipn`, heard, refused, close: receiver.close }
}
