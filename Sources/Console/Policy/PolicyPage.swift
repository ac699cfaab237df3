import HTTP
import Identity
import Localization
import OTP
import Templating
import Text

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

  /// The project's policy that can be copied to a tenant; nil for a project, and for administrators
  /// who can't read the project's policy.
  func projectPolicy(_ context: PoolContext) async throws -> StoredPolicy? {
    let pool = context.pool
    guard pool.tenant != nil,
      context.signedIn.administrator.may(.readPolicy, project: pool.project, tenant: nil)
    else { return nil }
    return try await policies.ofProject(pool)
  }

  /// The intervals of a policy without any of its own: the project's, if TOTP is on there and the
  /// administrator can read its policy.
  func usualIntervals(_ context: PoolContext) async throws -> String {
    guard let project = try await projectPolicy(context), project.configuration.isTOTPOn else {
      return WindowChoice.byDefault
    }
    return PolicyAnswers(project.edit).intervals
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
    var frame = try await frames.frame(Message("MFA policy"), in: context, errors: faults)
    if isUnchanged {
      frame.flash = Flash(
        text: Message("No changes made. These values are already in effect."))
    }
    let unenrolled = try await policies.unenrolledUsers(policy)
    let change = try await identity.changeNotice(of: nil, in: pool)
    var model = PolicyView(
      frame: FrameView(frame), context: context, policy: policy, answers: answers,
      versions: PolicyVersions(
        versions, after: after, in: context, times: frame.times, catalog: frames.catalog),
      prerequisites: PolicyPrerequisite.unmet(prerequisites, in: context),
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
    model.change = change
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
    return PolicyEvidence(codes, query, try await identity.support.settings(context.pool))
  }

  func histogram(
    _ query: EvidenceQuery, _ pool: Pool
  ) async throws -> OffsetHistogram {
    try await identity.activity.offsets(in: pool, days: query.days)
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
    let frameView = FrameView(
      try await frames.frame(
        Message("Review changes · MFA policy"), in: context,
        crumbs: [
          Link(text: Message("MFA policy"), href: ConsolePaths.policy(context.pool))
        ], errors: faults))
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

extension PolicyPages {
  /// `S/policy`: shows the MFA policy of a pool, and the form to change it.
  ///
  /// Links can propose a change and open its review page: `?change=on` turns on TOTP, with the
  /// project's window for a tenant that has none,
  /// `?change=intervals` with `&intervals=3` changes the window, `?change=project` copies the
  /// project's policy to a tenant, `?change=version&row=7` restores a version, and
  /// `?change=undo&version=3` the one before the current version 3.
  /// `?pattern=mandatory` opens the form with that pattern selected.
  func show(_ context: PoolContext) async throws -> Response {
    identity.connections.lookAtPolicies(of: context.pool.project)
    let policy = try await policies.read(context.pool)
    let asked = context.signedIn.query
    let isHosted = context.pool.kind == .hosted
    var answers = PolicyAnswers(policy.edit)
    guard context.may(.changePolicy) else {
      return try await page(context, policy, answers)
    }
    switch asked["change"] {
    case "on":
      answers.totp = "on"
      if policy.configuration.totp == nil {
        answers.intervals = try await usualIntervals(context)
      }
      if case .change(let request) = answers.read() {
        return try await propose(.answers(answers, request), context)
      }
    case "intervals":
      answers.intervals = asked.trimmed("intervals")
      if case .change(let request) = answers.read() {
        return try await propose(.answers(answers, request), context)
      }
      answers = PolicyAnswers(policy.edit)
    case "project" where isHosted:
      if let project = try await projectPolicy(context) {
        return try await propose(.likeProject(project), context)
      }
    case "version" where isHosted:
      if let version = try await formerVersion(context, asked.trimmed("row")) {
        return try await propose(.version(version), context)
      }
    case "undo" where isHosted:
      let version = UInt32(asked.trimmed("version")).map { Int($0) } ?? .max
      guard version >= policy.version else {
        return try await page(context, policy, answers, seen: version)
      }
      if version == policy.version,
        let previous = try await edit(beforeVersion: version, context)
      {
        return try await propose(.undo(previous), context)
      }
    default:
      if let pattern = asked.text("pattern").flatMap(EnrollmentPattern.init(rawValue:)) {
        answers.pattern = pattern.rawValue
      }
    }
    return try await page(context, policy, answers)
  }

  /// Returns the address that opens the review page for a window; nil for administrators who can't
  /// change the policy.
  static func proposal(_ window: Window, in context: PoolContext) -> String? {
    guard context.may(.changePolicy) else { return nil }
    let form: Form = ["change": "intervals", "intervals": String(window.adjacentIntervals)]
    return form.query(of: ConsolePaths.policy(context.pool))
  }

  /// Shows the review page of a change that a link proposes, or the form if it changes nothing.
  private func propose(
    _ proposal: PolicyProposal, _ context: PoolContext
  ) async throws -> Response {
    let preview = try await policies.preview(context.pool) { proposal.applied(to: $0) }
    guard !preview.changes.isEmpty else {
      let policy = preview.policy
      return try await page(context, policy, PolicyAnswers(policy.edit), isUnchanged: true)
    }
    return try await review(
      context, ReviewedPolicyChange(proposal: proposal, preview: preview))
  }
}

extension PolicyPreview {
  var switchesOff: Bool { policy.isTOTPTurnedOff(by: new.configuration) }
}

enum PolicyRoutes: ConsoleFeature {
  static func addRoutes(to table: inout RouteTable, _ parts: ConsoleParts) throws {
    let pages = PolicyPages(
      identity: parts.identity, actions: parts.actions, failures: table.failures,
      form: try parts.template("policy/policy"),
      check: try parts.template("policy/check"))
    let preparing = ConsoleRoute.Use.preparing(.changePolicy, .weakenPolicy)
    table.inside(ConsolePaths.policy, .get(.readPolicy), pages.show)
    table.inside(ConsolePaths.policy, preparing, pages.preview)
    table.inside(ConsolePaths.policyEdit, preparing, pages.edit)
    table.inside(
      ConsolePaths.policyChanges, .performing(.changePolicy, .weakenPolicy), pages.save)
    let histogram = ConsoleRoute.Use.get(.readPolicy, needs: .secrets)
    table.inside(ConsolePaths.policyEvidence, histogram, pages.effects)
    table.inside(ConsolePaths.policyOffsets, histogram, pages.offsets)
    let affected = try parts.page("policy/affected", AffectedUsersPage.init)
    table.inside(ConsolePaths.affectedUsers, .get(.findUsers, needs: .secrets), affected.show)
    table.inside(
      ConsolePaths.affectedUsersFile, .performing(.exportUsers, needs: .secrets),
      affected.download)
    table.inside(ConsolePaths.policyTOTPState, .performing(.changePolicy), pages.stateTOTP)
    table.add(ChangeTextMessages(identity: parts.identity), parts.actions)
  }
}

extension ConsolePaths {
  static let policy = PoolPath0("policy")
  static let policyEdit = PoolPath0("policy", "edit")
  static let policyChanges = PoolPath0("policy", "changes")
  static let policyTOTPState = PoolPath0("policy", "totp-state")
  static let policyEvidence = PoolPath0("policy", "evidence.csv")
  static let affectedUsers = PoolPath0("policy", "affected")
  static let affectedUsersFile = PoolPath0("policy", "affected.csv")
  static let policyOffsets = PoolPath0("policy", "offsets.csv")
}
