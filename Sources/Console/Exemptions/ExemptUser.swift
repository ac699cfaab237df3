import HTTP
import Identity
import Localization
import Templating

/// `S/users/{uid}/exemption`: exempts a user from MFA until a date, or renews an exemption.
struct ExemptUser: SupportAction {
  let action = ConsoleAction.exemptUser

  let pages: SupportPages

  func question(_ target: SupportTarget) async throws(Refusal) -> SupportConfirmation {
    let account = try await pages.account(target)
    let exemptions = pages.identity.exemptions
    let (current, obstacle) = try await refusing {
      (
        try await exemptions.find(account),
        try await exemptions.obstacle(
          for: target.context.signedIn.administrator, to: account, in: target.context.scope)
      )
    }
    let user = Message.Value.name(Formatted.short(account.label))
    var question = SupportConfirmation(
      user: account, title: Message("exemptions.exempt"),
      heading: Markup(html: Message("exemptions.exempt-heading", ["user": user])),
      consequences: [
        Message("exemptions.not-counted"), Message("exemptions.shown-in-reviews"),
        Message("exemptions.ends-automatically", ["count": .number(Exemptions.longest)]),
      ], button: Message("exemptions.exempt"), isDestructive: false,
      factsHeading: Message("exemptions.current"),
      facts: current.map { ExemptionText.facts($0, target.times) } ?? [])
    question.reasons = [.lost, .replaced, .locked, .other]
    question.until = until(target)
    if let obstacle { question.refusal = ActionErrorText.sentence(obstacle) }
    return question
  }

  func perform(
    _ target: SupportTarget, _ request: ActionRequest
  ) async throws(ActionDenial) -> SupportResult {
    let done = try await pages.identity.exemptions.grant(
      target.scope, target.user, until: until(target).moment, request)
    return SupportResult(
      Message("exemptions.granted", ["until": target.times.endValue(done.value.endsAt)]),
      after: done)
  }

  private func until(_ target: SupportTarget) -> UntilField {
    UntilField(target.form, target.formTimes, at: pages.frames.clock.now())
  }
}

/// `S/users/{uid}/exemption/end`: ends a user's exemption early.
struct EndExemption: SupportAction {
  let action = ConsoleAction.endExemption

  let pages: SupportPages

  func question(_ target: SupportTarget) async throws(Refusal) -> SupportConfirmation {
    let account = try await pages.account(target)
    let found = try await refusing { try await pages.identity.exemptions.find(account) }
    var question = SupportConfirmation(
      user: account, title: Message("exemptions.end"),
      heading: Markup(
        html: Message("exemptions.end-heading", ["user": .name(Formatted.short(account.label))])),
      consequences: [Message("exemptions.counted-again")], button: Message("exemptions.end"),
      isDestructive: false, factsHeading: Message("exemptions.current"),
      facts: found.map { ExemptionText.facts($0, target.times) } ?? [])
    question.reasons = [.found, .mistake, .asked, .other]
    if found == nil { question.refusal = Message("exemptions.not-exempt") }
    return question
  }

  func perform(
    _ target: SupportTarget, _ request: ActionRequest
  ) async throws(ActionDenial) -> SupportResult {
    let done = try await pages.identity.exemptions.end(target.scope, target.user, request)
    return SupportResult(Message("exemptions.ended"), after: done)
  }
}

enum ExemptionText {
  /// The reason with its details; the details alone where they say it all.
  static func reason(_ exemption: Exemption) -> Message {
    guard !exemption.note.isEmpty else { return exemption.reason.name }
    let note = Formatted.short(exemption.note, 120)
    guard exemption.reason != .other else { return .value(.name(note)) }
    return Message(
      "exemptions.reason-with-note",
      ["reason": .message(exemption.reason.name), "note": .name(note)])
  }

  static func facts(_ exemption: Exemption, _ times: Times) -> [Fact] {
    [
      Fact(Message("exemptions.reason"), reason(exemption)),
      Fact(Message("exemptions.granted-by"), HTML.isolated(exemption.grantorName)),
      Fact(Message("exemptions.granted-on"), times.past(exemption.grantedAt)),
      Fact(Message("exemptions.ends"), times.end(exemption.endsAt)),
    ]
  }
}
