import HTTP
import Identity
import Localization

/// `POST S/policy/changes`: saves a reviewed change, or requests approval for it.
struct SavePolicyChange: Sendable {
  let pages: PolicyPages

  func perform(_ context: ScopeContext) async throws(Refusal) -> Response {
    switch try await pages.submission(context) {
    case .change(let change): try await save(change, context)
    case .answer(let response): response
    }
  }

  private func save(
    _ change: ReviewedPolicyChange, _ context: ScopeContext
  ) async throws(Refusal) -> Response {
    let (actions, proposal, preview) = (pages.actions, change.proposal, change.preview)
    let typed = context.signedIn.form.trimmed("confirmation")
    if preview.switchesOff, !context.scope.isNamed(typed) {
      let fault = FieldError(
        field: "confirmation", text: Message("policy.name-differs"))
      let faults = [fault] + (try await actions.unmet(preview.action, context.signedIn))
      return try await pages.review(context, change, typed: typed, faults: faults)
    }
    let time: Instant?
    switch try ApplyAt(context.signedIn) {
    case .now: time = nil
    case .at(let instant):
      if let fault = lateStart(change, at: instant, context.signedIn) {
        let faults = [fault] + (try await actions.unmet(preview.action, context.signedIn))
        return try await pages.review(context, change, typed: typed, faults: faults)
      }
      time = instant
    case .invalid:
      let faults = [Self.invalidTime] + (try await actions.unmet(preview.action, context.signedIn))
      return try await pages.review(context, change, typed: typed, faults: faults)
    }
    let version = preview.policy.version
    do {
      let outcome = try await pages.policies.change(
        context.scope, expecting: version, actions.request(context.signedIn), applyAt: time
      ) { edit throws(PolicyError) in edit = proposal.applied(to: edit) }
      return actions.leave(
        Self.result(of: outcome.value, preview, context.signedIn.times),
        link: Self.undo(outcome.value), context.signedIn, after: outcome,
        to: time == nil
          ? ConsolePaths.policy(context.scope) : ConsolePaths.scheduledChanges(context.scope))
    } catch {
      let faults: [FieldError]
      switch error {
      case .failed(.changedMeanwhile(let policy)):
        return try await pages.page(context, policy, proposal.answers, seen: version)
      case .failed(.approvalPending): faults = [Self.approvalPending]
      case .failed(.timeOutOfRange): faults = [Self.invalidTime]
      case .failed(.changeScheduled): faults = [Self.changeScheduled]
      case .failed(let error): throw Refusal(error)
      case .refused(let refusal):
        faults = try ActionForms.faults(refusal, preview.action, context.signedIn)
      }
      return try await pages.review(context, change, typed: typed, faults: faults)
    }
  }

  /// What has to be confirmed by saving again: a start date before a time that was entered after the
  /// review's warnings; nil if there's nothing to confirm.
  private func lateStart(
    _ change: ReviewedPolicyChange, at time: Instant, _ signedIn: SignedIn
  ) -> FieldError? {
    let (old, new) = (change.preview.policy.edit, change.preview.new)
    guard let day = new.mandatoryFrom,
      signedIn.form.trimmed("warned-at") != signedIn.form.trimmed("apply-at")
    else { return nil }
    let warnings = { (time: Instant?) in
      PolicyWarning.all(
        from: old, to: new, at: pages.identity.clock.now(), applyAt: time, carriesText: true)
    }
    guard warnings(time) != warnings(nil) else { return nil }
    return FieldError(
      field: "apply-at", text: Message("policy.confirm-late-start", ["day": Times.value(day)]))
  }

  private static let approvalPending = FieldError(
    field: "approval", text: Message("policy.approval-pending"))

  private static let invalidTime = FieldError(
    field: "apply-at", text: Message("policy.apply-at-invalid"))
  private static let changeScheduled = FieldError(
    field: "apply-at", text: Message("policy.change-scheduled"))

  /// The link that undoes a saved change; nil if nothing is in effect yet.
  private static func undo(_ outcome: PolicyOutcome) -> Link? {
    if case .changed(let policy) = outcome { PolicyPage.undo(policy) } else { nil }
  }

  /// The message about the result, for the next page.
  private static func result(
    of outcome: PolicyOutcome, _ preview: PolicyPreview, _ times: Times
  ) -> Message {
    switch outcome {
    case .changed:
      let changes = preview.changes.map {
        Message(
          "policy.changed-field",
          [
            "field": .message($0.field.name), "from": .message($0.oldValue),
            "to": .message($0.newValue),
          ])
      }
      return Message("policy.saved", ["changes": .message(joined(changes))])
    case .scheduled(let time):
      return Message("policy.scheduled", ["time": times.value(time)])
    case .waiting(let until):
      return Message("policy.waits-for-approval", ["time": times.value(until)])
    }
  }

  /// The changes in one line.
  private static func joined(_ changes: [Message]) -> Message {
    guard let first = changes.first else { return .verbatim("") }
    return changes.dropFirst().reduce(first) {
      Message("policy.changes-joined", ["changes": .message($0), "change": .message($1)])
    }
  }
}

/// When a submitted change takes effect.
enum ApplyAt {
  case now
  case at(Instant)
  case invalid

  /// The time; nil for now, and for an invalid text.
  var instant: Instant? { if case .at(let instant) = self { instant } else { nil } }

  /// The time is read in the zone that the form named.
  init(_ signedIn: SignedIn) throws(Refusal) {
    let text = signedIn.form.trimmed("apply-at")
    guard !text.isEmpty else {
      self = .now
      return
    }
    self = try signedIn.formTimes.instant(ofLocal: text).map { .at($0) } ?? .invalid
  }
}
