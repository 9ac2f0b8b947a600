import type { Child } from '../../../core/markup/jsx-runtime.ts'

// A text with elements in its {braces}.
export const Say = ({ text, ...values }: { text: string } & Record<string, Child>) => (
  <>
    {text
      .split(/\{(\w+)\}/)
      .map((part, at) => (at % 2 === 0 ? part : Object.hasOwn(values, part) ? values[part] : `{${part}}`))}
  </>
)
