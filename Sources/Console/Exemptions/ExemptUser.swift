import HTTP
import Identity
import Localization

/// `S/users/{uid}/exemption`: exempts a user from MFA until a date, or renews an exemption.
struct ExemptUser: UserAction {
  static let action = ConsoleAction.exemptUser
  static let name = Message("Exempt user from MFA")
  static let path = PoolPath1("users", nil, "exemption")
  let identity: Identity

  static func intent(_ offer: UserOffer) -> UserIntent {
    offer.account.factors.isEmpty ? .cannotEnroll : .more
  }

  static func label(_ offer: UserOffer) -> Message { Message("Exempt from MFA…") }

  static func isOffered(_ offer: UserOffer) -> Bool {
    // An exemption isn't renewed by its grantor.
    offer.records.exemption?.grantor != offer.context.signedIn.administrator.id
  }

  func page(_ target: PoolTarget) async throws -> FormPage {
    let account = try await identity.account(target)
    let exemptions = identity.exemptions
    let (current, obstacle) = try await (
      exemptions.find(account),
      exemptions.obstacle(
        for: target.signedIn.administrator, to: account, in: target.pool)
    )
    var page = FormPage(
      account, in: target.pool, title: Message("Exempt user"),
      heading: Message("Exempt {user} from MFA?", ["user": account.shortLabel]),
      consequences: [
        Message(
          """
          Until the exemption ends, the user isn’t included in the number of users not enrolled, \
          and server enforcement doesn’t apply to them. A user with a second factor is still \
          asked for a code.
          """),
        Message("The exemption is shown in reviews and evidence, with your name and the reason."),
        Message(
          one: """
            It ends automatically, after {count} day at most. Only another administrator can \
            renew it.
            """,
          other: """
            It ends automatically, after {count} days at most. Only another administrator can \
            renew it.
            """, ["count": .number(Exemptions.longest)]),
      ], button: Message("Exempt user"), isDestructive: false,
      factsHeading: Message("Current exemption"),
      facts: current.map { ExemptionText.facts($0, target.times) } ?? [])
    page.fields = try end(target).fields
    if let obstacle { page.refusal = ActionErrorText.sentence(obstacle) }
    return page
  }

  func perform(_ input: Void, _ target: PoolTarget) async throws -> FormEnd {
    let done = try await identity.exemptions.grant(
      target.pool, target.user, until: end(target).moment, target.request)
    return FormEnd(
      Message(
        "User exempted through {until}.", ["until": target.times.endValue(done.value.endsAt)]),
      at: target.userPage, after: done)
  }

  func placed(_ error: FieldError, _ target: PoolTarget) -> FieldError {
    EndFields.placed(error, target)
  }

  private func end(_ target: PoolTarget) throws -> EndFields {
    try EndFields(target, at: identity.clock.now())
  }
}

/// `S/users/{uid}/exemption/end`: ends a user's exemption early.
struct EndExemption: FormAction {
  static let action = ConsoleAction.endExemption
  static let name = Message("End exemption")
  static let path = PoolPath1("users", nil, "exemption", "end")
  let identity: Identity

  func page(_ target: PoolTarget) async throws -> FormPage {
    let account = try await identity.account(target)
    let found = try await identity.exemptions.find(account)
    var page = FormPage(
      account, in: target.pool, title: Self.name,
      heading: Message(
        "End the MFA exemption for {user}?", ["user": account.shortLabel]),
      consequences: [
        Message("The user counts as not enrolled again until they set up a second factor.")
      ], button: Message("End exemption"), isDestructive: false,
      factsHeading: Message("Current exemption"),
      facts: found.map { ExemptionText.facts($0, target.times) } ?? [])
    if found == nil { page.refusal = Message("This user isn’t exempt from MFA.") }
    return page
  }

  func perform(_ input: Void, _ target: PoolTarget) async throws -> FormEnd {
    let done = try await identity.exemptions.end(target.pool, target.user, target.request)
    return FormEnd(Message("Exemption ended."), at: target.userPage, after: done)
  }
}
