import HTTP
import Identity
import Localization

/// `POST S/policy/changes`: saves a reviewed change, or requests approval for it.
struct SavePolicyChange: Sendable {
  let pages: PolicyPages

  func perform(_ context: PoolContext) async throws -> Response {
    switch try await pages.submission(context) {
    case .change(let change): try await save(change, context)
    case .answer(let response): response
    }
  }

  private func save(
    _ change: ReviewedPolicyChange, _ context: PoolContext
  ) async throws -> Response {
    let (actions, proposal, preview) = (pages.actions, change.proposal, change.preview)
    let typed = context.signedIn.form.trimmed("confirmation")
    if preview.switchesOff, !context.pool.isNamed(typed) {
      let fault = FieldError(
        field: "confirmation", text: Message("Enter the name as shown above, or the ID."))
      let faults = [fault] + (try await actions.unmet(preview.action, context.signedIn))
      return try await pages.review(context, change, typed: typed, faults: faults)
    }
    let version = preview.policy.version
    do {
      let outcome = try await pages.policies.change(
        context.pool, expecting: version, actions.request(context.signedIn)
      ) { edit throws(PolicyError) in edit = proposal.applied(to: edit) }
      return actions.leave(
        Self.result(of: outcome.value, preview, context.signedIn.times),
        link: Self.undo(outcome.value), context.signedIn, after: outcome,
        to: ConsolePaths.policy(context.pool))
    } catch PolicyError.changedMeanwhile(let policy) {
      return try await pages.page(context, policy, proposal.answers, seen: version)
    } catch PolicyError.approvalPending {
      return try await pages.review(context, change, typed: typed, faults: [Self.approvalPending])
    } catch let refusal as ActionDenial {
      let faults = try ActionForms.faults(refusal, preview.action, context.signedIn)
      return try await pages.review(context, change, typed: typed, faults: faults)
    }
  }

  private static let approvalPending = FieldError(
    field: "approval",
    text: Message(
      """
      A change that weakens this policy is already pending approval. Approve, reject, or withdraw \
      it first.
      """))

  /// The link that undoes a saved change; nil if nothing is in effect yet.
  private static func undo(_ outcome: PolicyOutcome) -> Link? {
    if case .changed(let policy) = outcome { PolicyPage.undo(policy) } else { nil }
  }

  private static func result(
    of outcome: PolicyOutcome, _ preview: PolicyPreview, _ times: Times
  ) -> Message {
    switch outcome {
    case .changed:
      let changes = preview.changes.map {
        Message(
          "{field} {from} → {to}",
          [
            "field": .message($0.field.name), "from": .message($0.oldValue),
            "to": .message($0.newValue),
          ])
      }
      return Message("Saved: {changes}.", ["changes": .sequence(changes)])
    case .waiting(let until):
      return Message(
        "Nothing has changed yet. A second administrator must approve the change by {time}.",
        ["time": times.value(until)])
    }
  }
}
