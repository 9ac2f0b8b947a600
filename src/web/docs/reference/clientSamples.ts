// The beginning of each program that uses an SDK.
const nodeClient = `import { createTollgate } from '@tollgate/merchant'

const tollgate = createTollgate({
  baseUrl: process.env.TOLLGATE_URL,
  merchantKey: process.env.TOLLGATE_MERCHANT_KEY,
  merchantSecret: process.env.TOLLGATE_MERCHANT_SECRET,
})`

const phpClient = `<?php
require 'Tollgate.php';

$client = new Tollgate\\Client(
    getenv('TOLLGATE_URL'),
    getenv('TOLLGATE_MERCHANT_KEY'),
    getenv('TOLLGATE_MERCHANT_SECRET'),
);`

const pythonClient = `import os, time
import tollgate

client = tollgate.Client(
    os.environ["TOLLGATE_URL"],
    os.environ["TOLLGATE_MERCHANT_KEY"],
    os.environ["TOLLGATE_MERCHANT_SECRET"],
)`

export { nodeClient, phpClient, pythonClient }
