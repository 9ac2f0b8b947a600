import { testSdk } from './suite.ts'

testSdk({
  language: 'PHP',
  program: 'php',
  probe: ['-r', "exit(extension_loaded('curl') && extension_loaded('pdo_sqlite') ? 0 : 1);"],
  folder: 'sdk/php',
  driver: ['test/sdk/php/driver.php', 'sdk/php'],
  shop: port => ['-S', `127.0.0.1:${port}`, 'test/sdk/php/shop.php'],
  serve: (file, port) => ['-S', `127.0.0.1:${port}`, file],
})
