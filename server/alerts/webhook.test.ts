import assert from 'node:assert/strict'
import { test } from 'node:test'
import { signatureOf } from './webhook.ts'

test('signatures are those of Standard Webhooks', () => {
  const published = [
    {
      secret: 'whsec_plJ3nmyCDGBKInavdOK15jsl',
      signed: 'msg_loFOjxBNrRLzqYUf.1731705121.{"event_type":"ping","data":{"success":true}}',
      signature: 'v1,rAvfW3dJ/X/qxhsaXPOyyCGmRKsaKWcsNccKXlIktD0=',
    },
    {
      secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
      signed: 'msg_p5jXN8AQM9LWM0D4loKWxJek.1614265330.{"test": 2432232314}',
      signature: 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
    },
  ]
  for (const { secret, signed, signature } of published) assert.equal(signatureOf(secret, signed), signature)
})
