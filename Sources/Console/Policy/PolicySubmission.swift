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
        let policy = try await current(context)
        return .answer(
          try await page(
            context, policy, answers, faults: policy.version == version ? faults : [],
            seen: version))
      }
    }
    let change = ReviewedPolicyChange(
      proposal: proposal, preview: try await preview(proposal, context))
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
        field: "enforcement-refuse",
        text: Message(
          """
          This server sends no email, so refused users couldn’t get an enrollment link. Configure \
          email first, or select Claim.
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
    switch form["change"] {
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
    default: return .form(PolicyAnswers(form))
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
