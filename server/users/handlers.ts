import type { Handler } from '../reply.ts'
import { nameTakenOr } from './create-user.ts'
import { findUser, findUserByName } from './find-user.ts'
import { presentMe, presentUser } from './present-user.ts'
import { updateUser } from './queries.ts'

export const getMe: Handler<'getMe'> = async ({ db, baseUrl }, caller) => {
  return presentMe(await findUser(db, caller.id), baseUrl)
}

export const updateMe: Handler<'updateMe'> = async ({ db, baseUrl, bus, callers }, caller, { body }) => {
  const change = {
    id: caller.id,
    username: body.username ?? null,
    sets_bio: body.bio !== undefined,
    bio: body.bio ?? null,
    sets_image: body.profileImageUrl !== undefined,
    image: body.profileImageUrl ?? null,
  }
  await updateUser(db, change).catch((error: unknown) => {
    throw nameTakenOr(error, body.username)
  })
  await callers.forgetUser(caller.id)
  bus.publish('callerChanged', { userId: caller.id })
  return presentMe(await findUser(db, caller.id), baseUrl)
}

export const getUser: Handler<'getUser'> = async ({ db, baseUrl }, _caller, { params }) => {
  return presentUser(await findUser(db, params.user_id), baseUrl)
}

export const getUserByName: Handler<'getUserByName'> = async ({ db, baseUrl }, _caller, { params }) => {
  return presentUser(await findUserByName(db, params.username), baseUrl)
}
