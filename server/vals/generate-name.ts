import { randomInt } from 'node:crypto'

const adjectives =
  'amber brisk calm clear crisp deep early fern gentle golden green high keen late light lucid mossy quiet rapid river silver slate soft still stone sunny swift tidal warm wild'
const nouns =
  'Ash Birch Brook Cedar Cliff Cloud Crane Creek Dale Dawn Elm Falcon Field Finch Glade Glen Grove Heath Heron Hill Lake Lark Leaf Maple Meadow Moss Oak Otter Pine Pond Reed Ridge Robin Stream Thicket Trail Trout Vale Willow Wren'
const adjectiveList = adjectives.split(' ')
const nounList = nouns.split(' ')

/** A readable name for a val that was given none, such as quietHeron4821. */
export function generateName(): string {
  const adjective = adjectiveList[randomInt(adjectiveList.length)]
  const noun = nounList[randomInt(nounList.length)]
  return `${adjective}${noun}${randomInt(1_000, 10_000)}`
}
