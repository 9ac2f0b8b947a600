import { describe } from 'vitest'
import { testHandler } from './handler.ts'
import { isMissing, type Sdk } from './programs.ts'
import { testReadme } from './readme.ts'
import { testRefunds } from './refunds.ts'
import { testFeed, testRequests } from './requests.ts'
import { testRetries } from './retries.ts'
import { testSignatures } from './signatures.ts'
import { testStores } from './stores.ts'
import { openWorld } from './world.ts'

// The same tests for every language: the SDKs have the same verbs and errors.
export function testSdk(sdk: Sdk) {
  describe.skipIf(isMissing(sdk))(`the ${sdk.language} SDK`, () => {
    openWorld(sdk)
    describe('signatures', testSignatures)
    describe('requests', testRequests)
    describe('retries', testRetries)
    describe('refunds', () => testRefunds(sdk))
    describe('the feed', testFeed)
    describe('stores', testStores)
    describe('the handler', () => testHandler(sdk))
    describe('the README', () => testReadme(sdk))
  })
}
