import { partOf, type View } from '../page/view.ts'

// On a small screen the code is on the phone that should scan it. The standard has no link that opens a bank's app, but
// those apps read a code from the gallery.
export const SaveCode = ({ view }: { view: View }) => (
  <div class="narrow">
    <p class="muted">{view.t.wait.qr_here}</p>
    <p>
      <a class="button plain" href={partOf(view, '/code.png')} download={`${view.checkout.tx_reference}.png`}>
        {view.t.wait.qr_save}
      </a>
    </p>
  </div>
)
