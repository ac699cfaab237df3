import Identity
import Templating

/// Requests for a second administrator in words.
enum ApprovalWords {
  /// That a second administrator is needed, and why.
  static func need(_ cause: Approval.Cause) -> String {
    "Nothing is removed before a second administrator approves it within a day: \(why(cause))."
  }

  /// Why a second administrator is needed, at the end of a sentence.
  static func why(_ cause: Approval.Cause) -> String {
    switch cause {
    case .lastFactor: "this leaves somebody without a second factor where enrollment is mandatory"
    case .many: "they are more users than one administrator may decide here"
    case .weakerPolicy: "it affects more users than one administrator may decide here"
    case .hour: "they are more users than the requester had actions left in the hour"
    }
  }

  static func chip(_ state: Approval.State) -> Markup {
    switch state {
    case .waiting: Chip.look("waits")
    case .approved: Chip.on("approved")
    case .refused: Chip.bad("refused")
    case .withdrawn: Chip.off("withdrawn")
    case .expired: Chip.off("expired")
    case .overtaken: Chip.off("overtaken")
    }
  }

  /// What is asked for, without names: `Remove all factors`.
  static func what(_ approval: Approval) -> String {
    switch approval.kind {
    case .factor: "Remove a factor"
    case .factors: "Remove all factors"
    case .policy: "Weaken the MFA policy"
    case .job: "Remove the factors of \(Words.count(approval.users, "user", "users"))"
    }
  }

  /// Where, as people say it: the project, and the tenant.
  static func place(_ scope: Scope) -> String {
    scope.tenant == nil ? scope.name : "\(scope.projectName) / \(scope.name)"
  }

  /// How many wait for somebody: `2 approvals wait for you`.
  static func waiting(_ count: Int) -> String {
    count >= Approvals.mostWaiting
      ? "\(Words.number(count)) and more approvals wait for you"
      : "\(Words.count(count, "approval waits", "approvals wait")) for you"
  }
}
