import HTTP
import Identity
import Templating
import Text

/// `S/policy`: shows the MFA policy of a scope and changes it in two steps, form and review.
///
/// Links can propose a change and open its review page: `?change=on` turns on TOTP, and
/// `?change=project` copies the project's policy to a tenant. `?pattern=mandatory` opens the form
/// with that pattern selected.
struct PolicyPage: Sendable {
  let identity: Identity
  let actions: ActionForms
  let form: Template<PolicyView>
  let check: Template<PolicyCheckView>

  private var policies: Policies { identity.policies }
  private var frames: Frames { actions.frames }
  private static let historyLength = 10

  func show(_ context: ScopeContext) async throws(Refusal) -> Response {
    let policy = try await current(context)
    let asked = context.signedIn.query
    var answers = PolicyAnswers(policy.edit)
    guard context.may(.changePolicy) else { return try await page(context, policy, answers) }
    switch asked["change"] {
    case "on":
      answers.totp = "on"
      if case .change(let request) = answers.read() {
        return try await propose(.answers(answers, request), over: policy, context)
      }
    case "project":
      if let project = try await projectPolicy(context) {
        return try await propose(.likeProject(project), over: policy, context)
      }
    default:
      if let pattern = asked.text("pattern").flatMap(EnrollmentPattern.init(rawValue:)) {
        answers.pattern = pattern.rawValue
      }
    }
    return try await page(context, policy, answers)
  }

  /// Handles every button of the form and of the review page.
  func change(_ context: ScopeContext) async throws(Refusal) -> Response {
    let form = context.signedIn.form
    guard let version = Int(form.trimmed("version")) else { throw .unreadableForm }
    let policy = try await current(context)
    if form["step"] == "explicit" {
      return try await makeExplicit(context, policy, version)
    }
    if form["change"] == "project" {
      return try await likeProject(context, policy, version)
    }
    let answers = PolicyAnswers(form)
    if form["step"] == "edit" { return try await page(context, policy, answers, seen: version) }
    guard policy.version == version else {
      return try await page(context, policy, answers, seen: version)
    }
    switch answers.read() {
    case .faults(let faults):
      return try await page(context, policy, answers, faults: faults)
    case .change(let request):
      return try await take(.answers(answers, request), version, context)
    }
  }

  private func likeProject(
    _ context: ScopeContext, _ policy: Policy, _ version: Int
  ) async throws(Refusal) -> Response {
    guard let project = try await projectPolicy(context) else { throw .unreadableForm }
    let proposal = PolicyProposal.likeProject(project)
    if context.signedIn.form["step"] == "edit" {
      return try await page(context, policy, proposal.answers, seen: version)
    }
    // The project's policy changed after the administrator reviewed it.
    guard context.signedIn.form.trimmed("source") == String(project.version) else {
      return try await propose(proposal, over: policy, context, isLate: true)
    }
    return try await take(proposal, version, context)
  }

  /// The project's policy that can be copied to a tenant; nil for a project, and for administrators
  /// who can't read the project's policy.
  private func projectPolicy(_ context: ScopeContext) async throws(Refusal) -> Policy? {
    let scope = context.scope
    guard scope.tenant != nil,
      context.signedIn.administrator.may(.readPolicy, project: scope.project, tenant: nil)
    else { return nil }
    do {
      return try await policies.ofProject(scope)
    } catch {
      throw Refusal(error)
    }
  }

  /// Shows the review page of a change that a link proposes, or the form if it changes nothing.
  private func propose(
    _ proposal: PolicyProposal, over policy: Policy, _ context: ScopeContext, isLate: Bool = false
  ) async throws(Refusal) -> Response {
    let preview = try await preview(proposal, over: policy, context)
    guard !preview.changes.isEmpty else {
      return try await page(context, policy, PolicyAnswers(policy.edit), isUnchanged: true)
    }
    return try await checkPage(context, preview, proposal, isLate: isLate)
  }

  private func preview(
    _ proposal: PolicyProposal, over policy: Policy, _ context: ScopeContext
  ) async throws(Refusal) -> PolicyPreview {
    do {
      return try await policies.preview(context.scope, proposal.applied(to: policy.edit))
    } catch {
      throw Refusal(error)
    }
  }

  private func take(
    _ proposal: PolicyProposal, _ version: Int, _ context: ScopeContext
  ) async throws(Refusal) -> Response {
    let answers = proposal.answers
    let policy = try await current(context)
    let preview = try await preview(proposal, over: policy, context)
    guard preview.policy.version == version else {
      return try await page(context, preview.policy, answers, seen: version)
    }
    guard !preview.changes.isEmpty else {
      return try await page(context, policy, answers, isUnchanged: true)
    }
    let form = context.signedIn.form
    guard form["step"] == "confirm" else {
      return try await checkPage(context, preview, proposal)
    }
    let typed = form.trimmed("confirmation")
    if preview.switchesOff, !context.scope.isNamed(typed) {
      let fault = FieldError(
        field: "confirmation", text: "Enter the name as shown above, or the ID.")
      let faults = [fault] + (try await actions.unmet(preview.action, context.signedIn))
      return try await checkPage(context, preview, proposal, typed: typed, faults: faults)
    }
    do {
      let outcome = try await policies.change(
        context.scope, expecting: version, actions.request(context.signedIn)
      ) { edit throws(PolicyError) in edit = proposal.applied(to: edit) }
      return actions.leave(
        Self.result(of: outcome.value, preview, context.signedIn.times), context.signedIn,
        after: outcome, to: ConsolePaths.policy(context.scope))
    } catch {
      switch error {
      case .failed(.changedMeanwhile(let policy)):
        return try await page(context, policy, answers, seen: version)
      case .failed(.approvalPending):
        return try await checkPage(
          context, preview, proposal, typed: typed, faults: [Self.approvalPending])
      case .failed(let error): throw Refusal(error)
      case .refused(let refusal):
        let faults = try ActionForms.faults(refusal, preview.action, context.signedIn)
        return try await checkPage(context, preview, proposal, typed: typed, faults: faults)
      }
    }
  }

  private static let approvalPending = FieldError(
    field: "approval",
    text:
      "A change that weakens this policy is already pending approval. Decide or withdraw it first.")

  /// The message about the result, for the next page.
  private static func result(
    of outcome: PolicyOutcome, _ preview: PolicyPreview, _ times: Times
  ) -> String {
    switch outcome {
    case .changed:
      let words = preview.changes.map { "\($0.field.rawValue) \($0.from) → \($0.to)" }
      return "Saved: \(words.joined(separator: "; "))."
    case .waiting(let until):
      return
        "Nothing has changed yet. A second administrator can approve it until \(times.words(until))."
    }
  }

  private func makeExplicit(
    _ context: ScopeContext, _ policy: Policy, _ version: Int
  ) async throws(Refusal) -> Response {
    do {
      let outcome = try await policies.change(
        context.scope, expecting: version, actions.request(context.signedIn)
      ) { edit throws(PolicyError) in
        if edit.configuration.isUnstated { edit.configuration.totp?.state = .enabled }
      }
      return actions.leave(
        "TOTP state set to Enabled. Nothing changes for users.", context.signedIn, after: outcome,
        to: ConsolePaths.policy(context.scope))
    } catch {
      switch error {
      case .failed(.changedMeanwhile(let policy)):
        return try await page(context, policy, PolicyAnswers(policy.edit), seen: version)
      case .failed(let error): throw Refusal(error)
      case .refused(let refusal):
        let faults = try ActionForms.faults(refusal, .changePolicy, context.signedIn)
        return try await page(context, policy, PolicyAnswers(policy.edit), faults: faults)
      }
    }
  }

  private func current(_ context: ScopeContext) async throws(Refusal) -> Policy {
    do {
      return try await policies.read(context.scope)
    } catch {
      throw Refusal(error)
    }
  }

  /// Shows the form.
  ///
  /// The status is 422 for invalid values, and 409 when the version that the administrator has seen
  /// is no longer the current one.
  private func page(
    _ context: ScopeContext, _ policy: Policy, _ answers: PolicyAnswers,
    faults: [FieldError] = [], seen version: Int? = nil, isUnchanged: Bool = false
  ) async throws(Refusal) -> Response {
    let scope = context.scope
    let after = context.signedIn.query.text("after")
    let (versions, prerequisites) = try await refusing {
      (
        try await policies.versions(scope, after: after, limit: Self.historyLength),
        try await policies.prerequisites(scope)
      )
    }
    var frame = try await frames.frame("MFA policy", in: context, tab: .policy)
    frame.errors = faults
    var model = PolicyView(
      frame: frame, context: context, policy: policy, answers: answers,
      versions: PolicyVersions(versions, after: after, in: context, times: frame.times),
      prerequisites: PolicyPrerequisite.all(policy, prerequisites, in: context),
      publicURL: frames.publicURL)
    model.isUnchanged = isUnchanged
    model.codeCap = try await codeCap(scope)
    if let version, version != policy.version {
      let missed = try await refusing {
        try await policies.history(scope, limit: max(1, min(policy.version - version, 10)))
      }
      model.race = PolicyRace(
        policy, history: missed, discard: ConsolePaths.policy(scope), times: frame.times)
    }
    let status: Status =
      model.race != nil ? .conflict : faults.isEmpty ? .ok : .unprocessableContent
    return .html(form.render(model), status: status)
  }

  private func codeCap(_ scope: Scope) async throws(Refusal) -> Int {
    try await refusing { try await identity.support.settings(scope).codeCap }
  }

  /// Shows what changes and who is affected.
  ///
  /// The status is 422 for invalid fields, such as a wrong name, and 409 when the project's policy
  /// has changed in the meantime.
  private func checkPage(
    _ context: ScopeContext, _ preview: PolicyPreview, _ proposal: PolicyProposal,
    typed: String = "", faults: [FieldError] = [], isLate: Bool = false
  ) async throws(Refusal) -> Response {
    var frame = try await frames.frame("Review changes · MFA policy", in: context, tab: .policy)
    frame.errors = faults
    let frameView = FrameView(frame)
    var model = PolicyCheckView(
      frame: frameView, context: context, preview: preview, proposal: proposal, typed: typed,
      isLate: isLate, fields: try await actions.fields(preview.action, context.signedIn, frameView),
      now: identity.clock.now())
    model.codeCap = try await codeCap(context.scope)
    let status: Status = !faults.isEmpty ? .unprocessableContent : isLate ? .conflict : .ok
    return .html(check.render(model), status: status)
  }
}

extension PolicyPreview {
  /// Whether the change turns off TOTP.
  var switchesOff: Bool { policy.configuration.isTOTPOn && !new.configuration.isTOTPOn }
}

extension Scope {
  /// Whether a text is the name or the ID of this scope.
  ///
  /// The ID is accepted because some names can't be typed.
  func isNamed(_ text: String) -> Bool {
    !text.isEmpty && (text == name || text == (tenant?.text ?? project.text))
  }
}

extension Refusal {
  /// Converts an error of a change whose values are already validated.
  init(_ error: PolicyError) {
    switch error {
    case .scopeNotFound: self = .notFound
    case .invalidAdjacentIntervals, .twoTOTPEntries: self = .unreadableForm
    case .changedMeanwhile, .approvalPending, .unavailable: self = .unavailable(error)
    }
  }
}
