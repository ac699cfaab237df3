import HTTP
import Identity
import Localization
import Templating

/// The form and the review page of a policy, which every action on the policy answers with.
struct PolicyPages: Sendable {
  let identity: Identity
  let actions: ActionForms
  let failures: Failures
  let form: Template<PolicyView>
  let check: Template<PolicyCheckView>

  var policies: Policies { identity.policies }
  private var frames: Frames { actions.frames }
  private static let historyLength = 10
  /// The maximum number of changes among which the one that started enforcement is looked for.
  private static let mostSearched = 100

  func current(_ context: PoolContext) async throws -> Policy {
    try await policies.read(context.pool)
  }

  /// The project's policy that can be copied to a tenant; nil for a project, and for administrators
  /// who can't read the project's policy.
  func projectPolicy(_ context: PoolContext) async throws -> StoredPolicy? {
    let pool = context.pool
    guard pool.tenant != nil,
      context.signedIn.administrator.may(.readPolicy, project: pool.project, tenant: nil)
    else { return nil }
    return try await policies.ofProject(pool)
  }

  /// The version with an audit log entry's number; nil if it can't be restored.
  func formerVersion(
    _ context: PoolContext, _ row: String
  ) async throws -> PolicyVersion? {
    guard let row = Int64(row) else { return nil }
    return try await policies.version(row, of: context.pool)
  }

  func edit(
    beforeVersion version: Int, _ context: PoolContext
  ) async throws -> PolicyEdit? {
    try await policies.edit(ofVersion: version - 1, of: context.pool)
  }

  func preview(
    _ proposal: PolicyProposal, _ context: PoolContext
  ) async throws -> PolicyPreview {
    try await policies.preview(context.pool) { proposal.applied(to: $0) }
  }

  /// Shows the form.
  ///
  /// The status is 422 for invalid values, and 409 when the version that the administrator has seen
  /// is no longer the current one.
  func page(
    _ context: PoolContext, _ policy: Policy, _ answers: PolicyAnswers,
    faults: [FieldError] = [], seen version: Int? = nil, isUnchanged: Bool = false
  ) async throws -> Response {
    let pool = context.pool
    let after = context.signedIn.query.text("after")
    let (versions, prerequisites) = try await (
      policies.versions(pool, after: after, limit: Self.historyLength),
      policies.prerequisites(pool)
    )
    let query = EvidenceQuery(context.signedIn.query)
    let evidence = try await evidence(query, context)
    // The change that started enforcement can be one of the earlier ones.
    let isEnough =
      policy.version <= Self.historyLength || policy.edit.effectiveEnforcement == nil
    let latest =
      after == nil && isEnough
      ? versions.items
      : try await policies.history(pool, limit: Self.mostSearched)
    var frame = try await frames.frame(Message("MFA policy"), in: context)
    frame.errors = faults
    if isUnchanged {
      frame.flash = Flash(
        text: Message("No changes made. These values are already in effect."))
    }
    let unenrolled = try await policies.unenrolledUsers(policy)
    var model = PolicyView(
      frame: FrameView(frame), context: context, policy: policy, answers: answers,
      versions: PolicyVersions(
        versions, after: after, in: context, times: frame.times, catalog: frames.catalog),
      prerequisites: PolicyPrerequisite.all(policy, prerequisites, in: context),
      snippets: PolicySnippets(policy, answers, publicURL: frames.publicURL),
      effective: EffectiveStateView(
        effective: EffectiveMFA(
          policy, history: latest,
          usersInGrace: try await policies.usersInGrace(policy, of: unenrolled),
          carriesMail: identity.messages.carriesMail, at: identity.clock.now()),
        policy: policy,
        unenrolled: unenrolled, context: context, times: frame.times, cap: evidence.cap),
      evidence: evidence, query: query, carriesMail: identity.messages.carriesMail,
      carriesText: identity.messages.carriesText,
      drift: PolicyFileDrift(policies.drift(of: policy.stored), policies.fileStatus))
    model.note = context.signedIn.form.trimmed("note")
    if let version, version != policy.version {
      let missed = try await policies.history(
        pool, limit: max(1, min(policy.version - version, 10)))
      model.race = PolicyRace(
        policy, history: missed, discard: ConsolePaths.policy(pool), times: frame.times,
        catalog: frames.catalog)
    }
    let status: Status =
      model.race != nil ? .conflict : faults.isEmpty ? .ok : .unprocessableContent
    return .html(form.render(model), status: status)
  }

  /// Reads the evidence of a period, without codes if they can't be read.
  private func evidence(
    _ query: EvidenceQuery, _ context: PoolContext
  ) async throws -> PolicyEvidence {
    let codes = try await failures.optional(context.signedIn.request) { () in
      try await histogram(query, context.pool)
    }
    return PolicyEvidence(codes, query, try await rules(context.pool))
  }

  func histogram(
    _ query: EvidenceQuery, _ pool: Pool
  ) async throws -> OffsetHistogram {
    try await identity.activity.offsets(in: pool, days: query.days)
  }

  func rules(_ pool: Pool) async throws -> SupportRules {
    try await identity.support.settings(pool)
  }

  /// Shows what changes and who is affected.
  ///
  /// Saving decides by its own counts, so it's possible even if those of the page can't be read.
  ///
  /// The status is 422 for invalid fields, such as a wrong name, and 409 when the project's policy
  /// has changed in the meantime.
  func review(
    _ context: PoolContext, _ change: ReviewedPolicyChange, typed: String = "",
    faults: [FieldError] = [], isLate: Bool = false
  ) async throws -> Response {
    var frame = try await frames.frame(Message("Review changes · MFA policy"), in: context)
    frame.errors = faults
    frame.crumbs = [
      Link(text: Message("MFA policy"), href: ConsolePaths.policy(context.pool))
    ]
    let frameView = FrameView(frame)
    let preview = change.preview
    let unenrolled = try await failures.optional(context.signedIn.request) { () in
      try await policies.unenrolledUsers(preview.policy, under: preview.new.configuration)
    }
    let model = PolicyCheckView(
      frame: frameView, context: context, preview: preview, unenrolled: unenrolled,
      proposal: change.proposal,
      typed: typed, isLate: isLate,
      fields: try await actions.fields(preview.action, context.signedIn, frameView),
      evidence: try await evidence(EvidenceQuery(), context), publicURL: frames.publicURL,
      carriesMail: identity.messages.carriesMail, carriesText: identity.messages.carriesText,
      now: identity.clock.now())
    let status: Status = !faults.isEmpty ? .unprocessableContent : isLate ? .conflict : .ok
    return .html(check.render(model), status: status)
  }
}

extension PolicyPreview {
  var switchesOff: Bool { policy.isTOTPTurnedOff(by: new.configuration) }
}

extension Pool {
  /// Whether a text is the name or the ID of this pool.
  ///
  /// The ID is accepted because some names can't be typed.
  func isNamed(_ text: String) -> Bool {
    !text.isEmpty && (text == name || text == objectID)
  }
}
