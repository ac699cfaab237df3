import HTTP
import Identity
import Localization

/// `S/policy/sms`: turns text messages as a second factor on or off in a connected pool, whose server is
/// sent nothing else with it.
///
/// Hosted pools have it in the form of the policy.
struct ChangeTextMessages: FormAction {
  static let action = ConsoleAction.changePolicy
  static let stricterActions: [ConsoleAction] = [.weakenPolicy]
  static let name = Message("Change text messages")
  static let path = PoolPath0("policy", "sms")
  let identity: Identity

  /// The fields with the version of the policy and the state that the page showed.
  private static let (version, state) = ("version", "sms")

  func page(_ target: FormTarget<PoolContext>) async throws -> FormPage {
    let pool = target.pool
    guard pool.kind != .hosted else { throw target.elsewhere(ConsolePaths.policy(pool)) }
    let policy = try await identity.policies.read(pool)
    let isTurningOn = !policy.configuration.isSMSOn
    let preview = try await identity.policies.preview(pool) { edit in
      var edit = edit
      edit.configuration.setSMS(isTurningOn)
      return edit
    }
    let back = ConsolePaths.policy(pool)
    var consequences: [Message] = [
      isTurningOn
        ? Message("Users can enroll a phone and must enter a code sent to it.")
        : Message("Users can’t enroll a phone and aren’t asked for its codes.")
    ]
    if preview.losingSecondFactor > 0 {
      consequences.append(
        Message(
          one: "{count} enrolled user will sign in without a second factor.",
          other: "{count} enrolled users will sign in without a second factor.",
          ["count": .number(preview.losingSecondFactor)]))
    }
    if preview.needsApproval {
      consequences.append(
        Message("A second administrator must approve it within a day. Nothing changes until then."))
    }
    consequences.append(Message("Users stay signed in."))
    let button = isTurningOn ? Message("Turn on text messages") : Message("Turn off text messages")
    var page = FormPage(
      title: Message("Text messages · MFA policy"),
      crumbs: [Link(text: Message("MFA policy"), href: back)],
      heading: isTurningOn ? Message("Turn on text messages?") : Message("Turn off text messages?"),
      consequences: consequences, button: button, isDestructive: !isTurningOn, back: back)
    page.hidden = [
      HiddenField(name: Self.version, value: String(policy.version)),
      HiddenField(name: Self.state, value: isTurningOn ? "on" : "off"),
    ]
    page.isStricter = preview.action == .weakenPolicy
    return page
  }

  func perform(_ input: Void, _ target: FormTarget<PoolContext>) async throws -> FormEnd {
    let (pool, form) = (target.pool, target.form)
    guard pool.kind != .hosted else { throw target.elsewhere(ConsolePaths.policy(pool)) }
    guard let version = Int(form.trimmed(Self.version)),
      let isOn = ["on": true, "off": false][form.trimmed(Self.state)]
    else { throw Refusal.unreadableForm }
    let outcome = try await identity.policies.change(
      pool, expecting: version, by: .console(target.request)
    ) { edit throws(PolicyError) in edit.configuration.setSMS(isOn) }
    let policy = ConsolePaths.policy(pool)
    switch outcome.value {
    case .requested(let change): return await identity.ended(change, in: pool, after: outcome)
    case .waiting(_, let until):
      return FormEnd(
        Message(
          "Nothing has changed yet. A second administrator must approve the change by {time}.",
          ["time": target.times.value(until)]), at: policy, after: outcome)
    case .changed: return FormEnd(Message("No changes made."), at: policy, after: outcome)
    }
  }

  func fault(_ error: PolicyError, _ target: FormTarget<PoolContext>) throws -> FieldError {
    let text: Message
    switch error {
    case .changedMeanwhile:
      text = Message("No changes made: the policy has changed since you opened the form.")
    case .approvalPending: text = PolicyPages.approvalPending.text
    default: throw error
    }
    throw target.elsewhere(ConsolePaths.policy(target.pool), saying: text)
  }

  func denied(
    _ denial: ActionDenial, _ target: FormTarget<PoolContext>
  ) throws -> FieldError? {
    switch denial {
    case .changeUnderWay, .connectionStopped:
      throw target.elsewhere(
        ConsolePaths.policy(target.pool), saying: ActionErrorText.sentence(denial))
    default: return nil
    }
  }
}
