// What the first view of a checkout page weighs.
import { filesOf } from './form.js'
import { openConnection, readAnswer } from './connection.js'
import { pageRequest, storedPage } from '../rows/payments.js'

const maxFiles = 20

// The page itself and every file that it names, as they go over the wire.
export async function weigh({ port, merchant }) {
  const connection = await openConnection(port)
  try {
    const fetched = async address => readAnswer(await connection.ask(pageRequest(address)))
    const page = await fetched(storedPage(merchant, 1))
    const files = [{ name: 'HTML', ...weightOf(page) }]
    for (const address of filesOf(page.text).slice(0, maxFiles))
      files.push({ name: address.split('?')[0], ...weightOf(await fetched(address)) })
    return { page, files }
  } finally {
    connection.close()
  }
}

const weightOf = ({ bodyBytes, headBytes }) => ({ bodyBytes, headBytes })
