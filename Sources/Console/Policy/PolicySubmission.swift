import HTTP
import Identity
import Localization
import Text

struct ReviewedPolicyChange: Sendable {
  let proposal: PolicyProposal
  let preview: PolicyPreview
}

/// A submitted policy form: a change to review or save, or the page that says why it's neither.
enum PolicySubmission {
  case change(ReviewedPolicyChange)
  case answer(Response)
}

extension PolicyPages {
  func submission(_ context: PoolContext) async throws -> PolicySubmission {
    let version = try version(context)
    let proposal: PolicyProposal
    switch try await values(context) {
    case .project(let project): proposal = .likeProject(project)
    case .version(let version): proposal = .version(version)
    case .undo(let previous): proposal = .undo(previous)
    case .form(let answers):
      switch answers.read() {
      case .change(let request): proposal = .answers(answers, request)
      case .faults(let faults):
        let policy = try await policies.read(context.pool)
        return .answer(
          try await page(
            context, policy, answers, faults: policy.version == version ? faults : [],
            seen: version))
      }
    }
    let change = ReviewedPolicyChange(
      proposal: proposal,
      preview: try await policies.preview(context.pool) { proposal.applied(to: $0) })
    let policy = change.preview.policy
    // The project's policy changed after the administrator reviewed it.
    let isLate = proposal.source.map { context.signedIn.form.trimmed("source") != $0 } ?? false
    guard isLate || policy.version == version else {
      return .answer(try await page(context, policy, proposal.answers, seen: version))
    }
    guard !change.preview.changes.isEmpty else {
      return .answer(try await page(context, policy, proposal.answers, isUnchanged: true))
    }
    guard !change.preview.lacksEmail else {
      let fault = FieldError(
        field: "enforcement",
        text: Message(
          """
          This server sends no email, so refused users couldn’t get an enrollment link. Set up \
          email first, or select “Flag in ID token”.
          """))
      return .answer(try await page(context, policy, proposal.answers, faults: [fault]))
    }
    guard !isLate else { return .answer(try await review(context, change, isLate: true)) }
    return .change(change)
  }

  func version(_ context: PoolContext) throws -> Int {
    guard let version = Int32(context.signedIn.form.trimmed("version")), version >= 0 else {
      throw Refusal.unreadableForm
    }
    return Int(version)
  }

  func values(_ context: PoolContext) async throws -> SubmittedPolicyValues {
    let form = context.signedIn.form
    // Other changes may be of more than one part.
    switch context.pool.kind == .hosted ? form["change"] : nil {
    case "project":
      guard let project = try await projectPolicy(context) else { throw Refusal.unreadableForm }
      return .project(project)
    case "version":
      guard let version = try await formerVersion(context, form.trimmed("row")) else {
        throw Refusal.notFound
      }
      return .version(version)
    case "undo":
      guard let previous = try await edit(beforeVersion: try version(context), context) else {
        throw Refusal.notFound
      }
      return .undo(previous)
    default:
      guard context.pool.kind != .hosted else { return .form(PolicyAnswers(form)) }
      return .form(PolicyAnswers(form, over: try await policies.read(context.pool).edit))
    }
  }
}

enum SubmittedPolicyValues {
  case form(PolicyAnswers)
  case project(StoredPolicy)
  case version(PolicyVersion)
  /// Those before the version that the form is based on.
  case undo(PolicyEdit)
}

extension PolicyPages {
  /// `POST S/policy`: reviews a change before it's saved.
  ///
  /// The policy form submits here by default, so that nothing is saved without a review.
  func preview(_ context: PoolContext) async throws -> Response {
    switch try await submission(context) {
    case .change(let change): try await review(context, change)
    case .answer(let response): response
    }
  }

  /// `POST S/policy/edit`: shows the form with the values sent: those of the review page, or of the
  /// form itself for the evidence of another period.
  func edit(_ context: PoolContext) async throws -> Response {
    let version = try version(context)
    let policy = try await policies.read(context.pool)
    let answers =
      switch try await values(context) {
      case .form(let answers): answers
      case .project(let project): PolicyAnswers(project.edit)
      case .version(let version): PolicyAnswers(version.edit)
      case .undo(let previous): PolicyAnswers(previous)
      }
    return try await page(context, policy, answers, seen: version)
  }

  /// `POST S/policy/changes`: saves a reviewed change, or requests approval for it.
  func save(_ context: PoolContext) async throws -> Response {
    switch try await submission(context) {
    case .change(let change): try await save(change, context)
    case .answer(let response): response
    }
  }

  private func save(
    _ change: ReviewedPolicyChange, _ context: PoolContext
  ) async throws -> Response {
    let (proposal, preview) = (change.proposal, change.preview)
    let typed = context.signedIn.form.trimmed("confirmation")
    if preview.switchesOff, !context.pool.isNamed(typed) {
      let fault = FieldError(
        field: "confirmation", text: Message("Enter the name as shown above, or the ID."))
      let faults = [fault] + (try await actions.unmet(preview.action, context.signedIn))
      return try await review(context, change, typed: typed, faults: faults)
    }
    let version = preview.policy.version
    do {
      let outcome = try await policies.change(
        context.pool, expecting: version, by: .console(actions.request(context.signedIn))
      ) { edit throws(PolicyError) in edit = proposal.applied(to: edit) }
      if case .requested(let id) = outcome.value {
        await identity.connections.settle(id)
        return actions.frames.leave(
          nil, context.signedIn, renewed: outcome.renewed,
          to: ChangeText.address(id, in: context.pool))
      }
      return actions.leave(
        Self.result(of: outcome.value, preview, context.signedIn.times),
        link: Self.undo(outcome.value), context.signedIn, after: outcome,
        to: ConsolePaths.policy(context.pool))
    } catch PolicyError.changedMeanwhile(let policy) {
      return try await page(context, policy, proposal.answers, seen: version)
    } catch PolicyError.approvalPending {
      return try await review(context, change, typed: typed, faults: [Self.approvalPending])
    } catch let refusal as ActionDenial {
      switch refusal {
      case .changeUnderWay, .connectionStopped:
        let fault = FieldError(field: "totp", text: ActionErrorText.sentence(refusal))
        return try await page(context, preview.policy, proposal.answers, faults: [fault])
      default:
        let faults = try ActionForms.faults(refusal, preview.action, context.signedIn)
        return try await review(context, change, typed: typed, faults: faults)
      }
    }
  }

  static let approvalPending = FieldError(
    field: "approval",
    text: Message(
      """
      A change that weakens this policy is already pending approval. Approve, reject, or withdraw \
      it first.
      """))

  /// The link that undoes a saved change; nil if nothing is in effect yet.
  private static func undo(_ outcome: PolicyOutcome) -> Link? {
    if case .changed(let policy) = outcome { PolicyLinks.undo(policy) } else { nil }
  }

  private static func result(
    of outcome: PolicyOutcome, _ preview: PolicyPreview, _ times: Times
  ) -> Message {
    switch outcome {
    case .requested(let id): return ChangeText.name(id)
    case .changed:
      let changes = preview.changes.map(\.sentence)
      return Message("Saved: {changes}.", ["changes": .sequence(changes)])
    case .waiting(_, let until):
      return Message(
        "Nothing has changed yet. A second administrator must approve the change by {time}.",
        ["time": times.value(until)])
    }
  }

  /// `POST S/policy/totp-state`: sets the TOTP state of a configuration that lacks one to Enabled,
  /// which it's treated as.
  func stateTOTP(_ context: PoolContext) async throws -> Response {
    let version = try version(context)
    do {
      let outcome = try await policies.change(
        context.pool, expecting: version, by: .console(actions.request(context.signedIn))
      ) { edit throws(PolicyError) in
        if edit.configuration.isUnstated { edit.configuration.totp?.state = .enabled }
      }
      return actions.leave(
        Message("TOTP state set to Enabled. Nothing changes for users."), context.signedIn,
        after: outcome,
        to: ConsolePaths.policy(context.pool))
    } catch PolicyError.changedMeanwhile(let current) {
      return try await page(context, current, PolicyAnswers(current.edit), seen: version)
    } catch let refusal as ActionDenial {
      let faults = try ActionForms.faults(refusal, .changePolicy, context.signedIn)
      let policy = try await policies.read(context.pool)
      return try await page(context, policy, PolicyAnswers(policy.edit), faults: faults)
    }
  }
}
