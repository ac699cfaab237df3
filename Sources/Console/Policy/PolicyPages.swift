import HTTP
import Identity
import Localization
import Templating

/// The form and the review page of a policy, which every action on the policy answers with.
struct PolicyPages: Sendable {
  let identity: Identity
  let actions: ActionForms
  let form: Template<PolicyView>
  let check: Template<PolicyCheckView>

  var policies: Policies { identity.policies }
  private var frames: Frames { actions.frames }
  private static let historyLength = 10

  func current(_ context: ScopeContext) async throws(Refusal) -> Policy {
    do {
      return try await policies.read(context.scope)
    } catch {
      throw Refusal(error)
    }
  }

  /// The project's policy that can be copied to a tenant; nil for a project, and for administrators
  /// who can't read the project's policy.
  func projectPolicy(_ context: ScopeContext) async throws(Refusal) -> StoredPolicy? {
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

  /// The version with an audit log entry's number; nil if it can't be restored.
  func formerVersion(
    _ context: ScopeContext, _ row: String
  ) async throws(Refusal) -> PolicyVersion? {
    guard let row = Int64(row) else { return nil }
    do {
      return try await policies.version(row, of: context.scope)
    } catch {
      throw Refusal(error)
    }
  }

  func preview(
    _ proposal: PolicyProposal, _ context: ScopeContext
  ) async throws(Refusal) -> PolicyPreview {
    do {
      return try await policies.preview(context.scope) { proposal.applied(to: $0) }
    } catch {
      throw Refusal(error)
    }
  }

  /// Shows the form.
  ///
  /// The status is 422 for invalid values, and 409 when the version that the administrator has seen
  /// is no longer the current one.
  func page(
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
    let query = EvidenceQuery(context.signedIn.query)
    let evidence = try await evidence(query, scope)
    let latest =
      after == nil
      ? versions.items
      : try await refusing { try await policies.history(scope, limit: Self.historyLength) }
    var frame = try await frames.frame(
      Message("common.mfa-policy"), in: context)
    frame.errors = faults
    let unenrolled = try await refusing { try await policies.unenrolledUsers(policy) }
    var model = PolicyView(
      frame: FrameView(frame), context: context, policy: policy, answers: answers,
      versions: PolicyVersions(
        versions, after: after, in: context, times: frame.times, catalog: frames.catalog),
      prerequisites: PolicyPrerequisite.all(policy, prerequisites, in: context),
      snippets: PolicySnippets(policy, answers, publicURL: frames.publicURL),
      effective: EffectiveStateView(
        effective: EffectiveMFA(
          policy, history: latest,
          usersInGrace: try await refusing {
            try await policies.usersInGrace(policy, of: unenrolled)
          },
          at: identity.clock.now()),
        policy: policy,
        unenrolled: unenrolled, context: context, times: frame.times, cap: evidence.cap),
      evidence: evidence, query: query, carriesMail: identity.messages.carriesMail,
      carriesText: identity.messages.carriesText)
    model.isUnchanged = isUnchanged
    model.carried = ["apply-at", Times.zoneField, "note"].compactMap { name in
      let value = context.signedIn.form.trimmed(name)
      return value.isEmpty ? nil : HiddenField(name: name, value: value)
    }
    model.plans = PolicyPlans(
      context, scheduled: try await refusing { try await policies.scheduled(scope) },
      drift: policies.drift(of: policy.stored), file: policies.fileStatus, times: frame.times)
    if let version, version != policy.version {
      let missed = try await refusing {
        try await policies.history(scope, limit: max(1, min(policy.version - version, 10)))
      }
      model.race = PolicyRace(
        policy, history: missed, discard: ConsolePaths.policy(scope), times: frame.times,
        catalog: frames.catalog)
    }
    let status: Status =
      model.race != nil ? .conflict : faults.isEmpty ? .ok : .unprocessableContent
    return .html(form.render(model), status: status)
  }

  /// Reads the evidence of a period.
  func evidence(
    _ query: EvidenceQuery, _ scope: Scope
  ) async throws(Refusal) -> PolicyEvidence {
    let histogram = try await refusing {
      try await identity.activity.offsets(in: scope, days: query.days)
    }
    let settings = try await refusing { try await identity.support.settings(scope) }
    return PolicyEvidence(histogram, goal: query.goal, settings)
  }

  /// Shows what changes and who is affected.
  ///
  /// The status is 422 for invalid fields, such as a wrong name, and 409 when the project's policy
  /// has changed in the meantime.
  func review(
    _ context: ScopeContext, _ change: ReviewedPolicyChange, typed: String = "",
    faults: [FieldError] = [], isLate: Bool = false
  ) async throws(Refusal) -> Response {
    var frame = try await frames.frame(
      Message("policy.review-title"), in: context)
    frame.errors = faults
    let frameView = FrameView(frame)
    let version = change.preview.policy.version
    let scheduled = try await refusing { try await policies.scheduled(context.scope) }
      .first { $0.isCurrent(at: version) }
    let model = PolicyCheckView(
      frame: frameView, context: context, preview: change.preview, proposal: change.proposal,
      typed: typed, applyAt: context.signedIn.form.trimmed("apply-at"),
      applyAtTimes: try context.signedIn.formTimes, isLate: isLate,
      fields: try await actions.fields(change.preview.action, context.signedIn, frameView),
      evidence: try await evidence(EvidenceQuery(), context.scope), publicURL: frames.publicURL,
      carriesText: identity.messages.carriesText, scheduledAt: scheduled?.applyAt,
      now: identity.clock.now())
    let status: Status = !faults.isEmpty ? .unprocessableContent : isLate ? .conflict : .ok
    return .html(check.render(model), status: status)
  }
}

extension PolicyPreview {
  /// Whether the change turns off TOTP.
  var switchesOff: Bool { policy.isTOTPTurnedOff(by: new.configuration) }
}

extension Scope {
  /// Whether a text is the name or the ID of this scope.
  ///
  /// The ID is accepted because some names can't be typed.
  func isNamed(_ text: String) -> Bool {
    !text.isEmpty && (text == name || text == objectID)
  }
}

extension Refusal {
  /// Converts an error of a change whose values are already validated.
  init(_ error: PolicyError) {
    switch error {
    case .scopeNotFound, .changeNotFound: self = .notFound
    case .invalidAdjacentIntervals, .twoTOTPEntries, .refusalNeedsEmail: self = .unreadableForm
    case .changedMeanwhile, .approvalPending, .timeOutOfRange, .changeScheduled, .changeNotPending,
      .unavailable:
      self = .unavailable(error)
    }
  }
}
