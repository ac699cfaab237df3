import HTTP
import Identity
import Localization

/// `S/users/{uid}/factors/{enrollment}/resynchronization`: stores how far the clock of a device is off
/// that can't be set, by two codes that the caller reads to the agent.
struct Resynchronize: UserAction {
  static let action = ConsoleAction.resynchronizeFactor
  static let name = Message("Resynchronize factor")
  static let path = PoolPath2("users", nil, "factors", nil, "resynchronization")
  let identity: Identity

  static func intent(_ offer: UserOffer) -> UserIntent { .rejected }

  static func label(_ offer: UserOffer) -> Message {
    Message("Resynchronize {factor}…", ["factor": offer.name])
  }

  static func isOffered(_ offer: UserOffer) -> Bool {
    guard let factor = offer.factor else { return false }
    return offer.records.rules.resynchronizationDenial(
      of: factor, of: offer.account, isClockDoubted: false, at: offer.now) == nil
  }

  func page(_ target: PoolTarget) async throws -> FormPage {
    let found = try await identity.factor(target)
    let rules = try await identity.support.settings(target.pool)
    var page = FormPage(
      found.account, in: target.pool, title: Self.name,
      heading: Message(
        "Resynchronize “{factor}” of {user}?",
        ["factor": FactorText.name(found.factor), "user": found.account.shortLabel]),
      consequences: [
        Message(
          """
          Only for devices whose clock can’t be set, such as hardware tokens. If it’s a phone, ask \
          the caller to set its date and time to automatic instead.
          """),
        Message("From then on, codes are compared with the device’s own clock."),
        Message("Two codes that don’t match count as one incorrect code."),
      ], button: Message("Resynchronize"), isDestructive: false,
      factsHeading: Message("This factor"), facts: FactorText.facts(found.factor, target.times))
    page.notifies = true
    page.rules = rules
    page.fields = [
      Self.code(ActionInput.deviceCodes[0], Message("Code that the device shows now")),
      Self.code(
        ActionInput.deviceCodes[1], Message("Next code"),
        hint: Message("Wait until the device shows another code, up to 30\u{A0}s.")),
    ]
    page.refusal = identity.resynchronizations.denial(
      of: found.factor, of: found.account, by: rules
    ).map { ActionErrorText.sentence($0) }
    return page
  }

  private static func code(_ name: String, _ label: Message, hint: Message? = nil) -> Field {
    var field = Field.line(
      name, label, hint: hint,
      #" class="medium mono" inputmode="numeric" autocomplete="off" spellcheck="false""#)
    field.isKept = false
    return field
  }

  func perform(_ input: Void, _ target: PoolTarget) async throws -> FormEnd {
    let form = target.form
    let done = try await identity.resynchronizations.resynchronize(
      ID(target.object), of: target.user, in: target.pool,
      with: CodePair(
        first: form.code(ActionInput.deviceCodes[0]), second: form.code(ActionInput.deviceCodes[1])),
      target.request)
    switch done.value {
    case .codesWrong:
      return FormEnd(
        again: Message("These codes don’t follow each other. Enter the next two."), after: done)
    case .codesOld(let until):
      let now = identity.clock.now()
      return FormEnd(
        again: now < until
          ? Message(
            """
            These codes are older than the last accepted one. Enter two that the device shows after \
            {time}.
            """, ["time": target.times.start(until)])
          : Message(
            "These codes aren’t both newer than the last accepted one. Enter the next two."),
        after: done)
    case .done(let change):
      return FormEnd(
        Message(
          "Resynchronized “{factor}”. Clock offset: {offset}. The next code is accepted.",
          [
            "factor": FactorText.name(change.factor),
            "offset": .message(FactorText.clock(change.offset ?? 0)),
          ]),
        link: Link(
          text: Message("Clear offset"),
          href: ClearOffset.path(target.pool, target.uid, target.object)),
        at: target.userPage, after: done)
    }
  }
}

/// `S/users/{uid}/factors/{enrollment}/clock-offset`: undoes a resynchronization.
struct ClearOffset: UserAction {
  static let action = ConsoleAction.clearClockOffset
  static let name = Message("Clear clock offset")
  static let path = PoolPath2("users", nil, "factors", nil, "clock-offset")
  let identity: Identity

  static func label(_ offer: UserOffer) -> Message {
    Message("Clear clock offset of {factor}…", ["factor": offer.name])
  }

  static func isOffered(_ offer: UserOffer) -> Bool { offer.factor?.clockOffset != nil }

  func page(_ target: PoolTarget) async throws -> FormPage {
    let found = try await identity.factor(target)
    var page = FormPage(
      found.account, in: target.pool, title: Self.name,
      heading: Message(
        "Clear the clock offset of “{factor}” for {user}?",
        ["factor": FactorText.name(found.factor), "user": found.account.shortLabel]),
      consequences: [
        Message("From then on, codes are compared with the server’s clock."),
        Message("Codes of a device whose clock is off are rejected."),
      ], button: Message("Clear offset"), isDestructive: false,
      factsHeading: Message("This factor"), facts: FactorText.facts(found.factor, target.times))
    if let from = found.factor.acceptedWithoutOffset(at: identity.clock.now()) {
      page.consequences.append(
        Message(
          """
          Codes of a device that shows the right time are accepted from {time}, since those before \
          are used.
          """, ["time": target.times.start(from)]))
    }
    page.notifies = true
    if found.factor.clockOffset == nil { page.refusal = ActionErrorText.sentence(.nothingToDo) }
    return page
  }

  func perform(_ input: Void, _ target: PoolTarget) async throws -> FormEnd {
    let done = try await identity.resynchronizations.clearOffset(
      ID(target.object), of: target.user, in: target.pool, target.request)
    let factor = FactorText.name(done.value.factor)
    let text = done.value.acceptedFrom.map {
      Message(
        """
        Cleared the clock offset of “{factor}”. If the device shows the right time, its codes are \
        accepted from {time}.
        """, ["factor": factor, "time": target.times.start($0)])
    }
    return FormEnd(
      text ?? Message("Cleared the clock offset of “{factor}”.", ["factor": factor]),
      at: target.userPage, after: done)
  }
}
