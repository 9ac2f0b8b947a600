import { z } from 'zod'
import { isAtMost, isPlainText } from '../text.ts'
import { NumberText } from './json.ts'
import * as patterns from './patterns.ts'

// What many fields of a request are made of.
export const numberText = z
  .custom<NumberText>(value => value instanceof NumberText, 'must be a number')
  .meta({ type: 'number' })

export const text = (max: number, pattern = patterns.plainText) =>
  z
    .string('must be text')
    .refine(value => isAtMost(value, max), `at most ${max} characters`)
    .refine(isPlainText, 'must not contain control characters or broken Unicode')
    .meta({ maxLength: max, pattern })
