import HTTP
import Identity
import Localization
import Templating

/// `S/users/{uid}/exemption`: exempts a user from MFA until a date, or renews an exemption.
struct ExemptUser: SupportAction {
  let action = ConsoleAction.exemptUser

  let pages: SupportPages

  func question(_ target: SupportTarget) async throws -> SupportConfirmation {
    let account = try await pages.account(target)
    let exemptions = pages.identity.exemptions
    let (current, obstacle) = try await (
      exemptions.find(account),
      exemptions.obstacle(
        for: target.context.signedIn.administrator, to: account, in: target.context.scope)
    )
    let user = Message.Value.name(Formatted.short(account.label))
    var question = SupportConfirmation(
      user: account, title: Message("Exempt user"),
      heading: Markup(html: Message("Exempt {user} from MFA?", ["user": user])),
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
    question.reasons = [.lost, .replaced, .locked, .other]
    question.until = until(target)
    if let obstacle { question.refusal = ActionErrorText.sentence(obstacle) }
    return question
  }

  func perform(
    _ target: SupportTarget, _ request: ActionRequest
  ) async throws -> SupportResult {
    let done = try await pages.identity.exemptions.grant(
      target.scope, target.user, until: until(target).moment, request)
    return SupportResult(
      Message("User exempted until {until}.", ["until": target.times.endValue(done.value.endsAt)]),
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

  func question(_ target: SupportTarget) async throws -> SupportConfirmation {
    let account = try await pages.account(target)
    let found = try await pages.identity.exemptions.find(account)
    var question = SupportConfirmation(
      user: account, title: Message("End exemption"),
      heading: Markup(
        html: Message(
          "End the MFA exemption for {user}?", ["user": .name(Formatted.short(account.label))])),
      consequences: [
        Message("The user counts as not enrolled again until they set up a second factor.")
      ], button: Message("End exemption"),
      isDestructive: false, factsHeading: Message("Current exemption"),
      facts: found.map { ExemptionText.facts($0, target.times) } ?? [])
    question.reasons = [.found, .mistake, .asked, .other]
    if found == nil { question.refusal = Message("This user isn’t exempt from MFA.") }
    return question
  }

  func perform(
    _ target: SupportTarget, _ request: ActionRequest
  ) async throws -> SupportResult {
    let done = try await pages.identity.exemptions.end(target.scope, target.user, request)
    return SupportResult(Message("Exemption ended."), after: done)
  }
}

enum ExemptionText {
  /// The reason with its details; the details alone where they say it all.
  static func reason(_ exemption: Exemption) -> Message {
    guard !exemption.note.isEmpty else { return exemption.reason.name }
    let note = Formatted.short(exemption.note, 120)
    guard exemption.reason != .other else { return .value(.name(note)) }
    return Message(
      "{reason}: {note}",
      ["reason": .message(exemption.reason.name), "note": .name(note)])
  }

  static func facts(_ exemption: Exemption, _ times: Times) -> [Fact] {
    [
      Fact(Message("Reason"), reason(exemption)),
      Fact(Message("Granted by"), HTML.isolated(exemption.grantorName)),
      Fact(Message("Granted on"), times.past(exemption.grantedAt)),
      Fact(Message("Ends"), times.end(exemption.endsAt)),
    ]
  }
}
