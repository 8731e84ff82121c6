import { answerAttacks, bodyAttacks } from './answers.ts'
import type { Attack, Places } from './attack.ts'
import { endingAttacks } from './endings.ts'
import { environmentAttacks } from './environment.ts'
import { fileAttacks } from './files.ts'
import { loopAttacks } from './loops.ts'
import { memoryAttacks } from './memory.ts'
import { nativeAttacks } from './native-code.ts'
import { networkAttacks } from './network.ts'
import { printAttacks } from './prints.ts'
import { processAttacks } from './processes.ts'
import { tamperingAttacks } from './tampering.ts'

export function everyAttack(places: Places): readonly Attack[] {
  return [
    ...fileAttacks(places),
    ...processAttacks(places),
    ...environmentAttacks,
    ...nativeAttacks,
    ...networkAttacks(places),
    ...answerAttacks,
    ...bodyAttacks,
    ...endingAttacks,
    ...printAttacks,
    ...tamperingAttacks,
    ...memoryAttacks,
    ...loopAttacks,
  ]
}
