import { testSdk } from './suite.ts'

testSdk({
  language: 'Python',
  program: 'python3',
  folder: 'sdk/python',
  driver: ['test/sdk/python/driver.py', 'sdk/python'],
  shop: () => ['test/sdk/python/shop.py', 'sdk/python'],
  serve: file => [file],
})
