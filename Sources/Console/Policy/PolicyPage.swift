import HTTP
import Identity
import Templating

/// `S/policy`: shows the MFA policy of a scope and changes it in two steps, form and check.
struct PolicyPage: Sendable {
  let policies: Policies
  let frames: Frames
  let form: Template<PolicyView>
  let check: Template<PolicyCheckView>

  private static let historyLength = 5

  func show(_ context: ScopeContext) async throws(Refusal) -> Response {
    let policy = try await current(context)
    return try await page(context, policy, PolicyAnswers(policy))
  }

  /// Takes every button of the form and of the check page.
  func change(_ context: ScopeContext) async throws(Refusal) -> Response {
    let form = context.signedIn.form
    guard let version = Int(form.trimmed("version")) else { throw .unreadableForm }
    let policy = try await current(context)
    if form["step"] == "explicit" {
      return try await makeExplicit(context, policy, version)
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
      return try await take(request, answers, version, context)
    }
  }

  private func take(
    _ request: PolicyChangeRequest, _ answers: PolicyAnswers, _ version: Int,
    _ context: ScopeContext
  ) async throws(Refusal) -> Response {
    let policy = try await current(context)
    let new = request.applied(to: policy.edit)
    let preview: PolicyPreview
    do {
      preview = try await policies.preview(context.scope, new)
    } catch {
      throw Refusal(error)
    }
    guard preview.policy.version == version else {
      return try await page(context, preview.policy, answers, seen: version)
    }
    guard !preview.changes.isEmpty else {
      return try await page(context, policy, answers, isUnchanged: true)
    }
    let typed = context.signedIn.form.trimmed("confirmation")
    guard context.signedIn.form["step"] == "confirm" else {
      return try await checkPage(context, preview, answers, typed: typed, fault: nil)
    }
    if preview.switchesOff, !context.scope.isNamed(typed) {
      let fault = FieldError(
        field: "confirmation", text: "Type the name as it stands above, or the id.")
      return try await checkPage(context, preview, answers, typed: typed, fault: fault)
    }
    do {
      _ = try await policies.change(
        context.scope, expecting: version, by: context.signedIn.author
      ) { edit throws(PolicyError) in request.apply(to: &edit) }
    } catch {
      guard case .changedMeanwhile(let policy) = error else { throw Refusal(error) }
      return try await page(context, policy, answers, seen: version)
    }
    let words = preview.changes.map { "\($0.field.rawValue) \($0.from) → \($0.to)" }
    frames.leave("Saved: \(words.joined(separator: "; ")).", for: context.signedIn)
    return .redirect(to: ConsolePaths.policy(context.scope))
  }

  private func makeExplicit(
    _ context: ScopeContext, _ policy: Policy, _ version: Int
  ) async throws(Refusal) -> Response {
    do {
      _ = try await policies.change(
        context.scope, expecting: version, by: context.signedIn.author
      ) { edit throws(PolicyError) in
        if edit.configuration.isUnstated { edit.configuration.totp?.state = .enabled }
      }
    } catch {
      guard case .changedMeanwhile(let policy) = error else { throw Refusal(error) }
      return try await page(context, policy, PolicyAnswers(policy), seen: version)
    }
    frames.leave(
      "TOTP is now stated as on. Nothing changes for users.", for: context.signedIn)
    return .redirect(to: ConsolePaths.policy(context.scope))
  }

  private func current(_ context: ScopeContext) async throws(Refusal) -> Policy {
    do {
      return try await policies.read(context.scope)
    } catch {
      throw Refusal(error)
    }
  }

  /// The form.
  ///
  /// It is answered with 422 for faults, and with 409 when the version that the
  /// administrator has seen is no longer in force.
  private func page(
    _ context: ScopeContext, _ policy: Policy, _ answers: PolicyAnswers,
    faults: [FieldError] = [], seen version: Int? = nil, isUnchanged: Bool = false
  ) async throws(Refusal) -> Response {
    let history: [AuditRow]
    do {
      history = try await policies.history(context.scope, limit: 10)
    } catch {
      throw Refusal(error)
    }
    var frame = try await frames.frame("MFA policy", in: context, tab: .policy)
    frame.errors = faults
    var model = PolicyView(
      frame: frame, context: context, policy: policy, answers: answers,
      history: Array(history.prefix(Self.historyLength)), publicURL: frames.publicURL)
    model.isUnchanged = isUnchanged
    if let version, version != policy.version {
      model.race = PolicyRace(
        policy, history: history.prefix(max(policy.version - version, 1)),
        discard: ConsolePaths.policy(context.scope), times: frame.times)
    }
    let status: Status =
      model.race != nil ? .conflict : faults.isEmpty ? .ok : .unprocessableContent
    return .html(form.render(model), status: status)
  }

  private func checkPage(
    _ context: ScopeContext, _ preview: PolicyPreview, _ answers: PolicyAnswers, typed: String,
    fault: FieldError?
  ) async throws(Refusal) -> Response {
    var frame = try await frames.frame("Check the change · MFA policy", in: context, tab: .policy)
    frame.errors = fault.map { [$0] } ?? []
    let model = PolicyCheckView(
      frame: FrameView(frame), context: context, preview: preview, answers: answers, typed: typed)
    return .html(check.render(model), status: fault == nil ? .ok : .unprocessableContent)
  }
}

extension PolicyPreview {
  /// Whether TOTP is on and would be off.
  var switchesOff: Bool { policy.configuration.isTOTPOn && !new.configuration.isTOTPOn }
}

extension Scope {
  /// Whether a text names this scope.
  ///
  /// Its id counts too, since some names cannot be typed.
  func isNamed(_ text: String) -> Bool {
    !text.isEmpty && (text == name || text == (tenant?.text ?? project.text))
  }
}

extension Refusal {
  /// For a change whose values were checked before.
  init(_ error: PolicyError) {
    switch error {
    case .scopeNotFound: self = .notFound
    case .invalidAdjacentIntervals, .twoTOTPEntries: self = .unreadableForm
    case .changedMeanwhile, .unavailable: self = .unavailable(error)
    }
  }
}
