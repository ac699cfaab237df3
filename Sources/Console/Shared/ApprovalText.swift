import Identity
import Localization
import Templating

enum ApprovalText {
  /// Returns a sentence that says that approval is required and why.
  ///
  /// It's for removals, whose cause is never a weaker policy.
  static func need(_ cause: Approval.Cause) -> Message {
    switch cause {
    case .lastFactor:
      Message(
        """
        Nothing is removed unless a second administrator approves within one day: this removes a \
        user’s last second factor where enrollment is mandatory.
        """)
    case .many, .weakerPolicy:
      Message(
        """
        Nothing is removed unless a second administrator approves within one day: the number of \
        users exceeds the approval threshold.
        """)
    case .hour:
      Message(
        """
        Nothing is removed unless a second administrator approves within one day: the number of \
        users exceeds the requester’s remaining hourly actions.
        """)
    case .unverifiedCaller:
      Message(
        """
        Nothing is removed unless a second administrator approves within one day: the support rules \
        require a verified caller, and no one can be verified by email here.
        """)
    }
  }

  static func why(_ cause: Approval.Cause) -> Message {
    switch cause {
    case .lastFactor:
      Message(
        """
        Approval is required because this removes a user’s last second factor where enrollment is \
        mandatory.
        """)
    case .many:
      Message("Approval is required because the number of users exceeds the approval threshold.")
    case .weakerPolicy:
      Message(
        "Approval is required because the number of affected users exceeds the approval threshold.")
    case .hour:
      Message(
        """
        Approval is required because the number of users exceeds the requester’s remaining hourly \
        actions.
        """)
    case .unverifiedCaller:
      Message(
        """
        Approval is required because the support rules require a verified caller, and no one could \
        be verified by email.
        """)
    }
  }

  static func chip(_ state: Approval.State) -> Markup {
    switch state {
    case .waiting: Chip.look(Message("pending"))
    case .approved: Chip.on(Message("approved"))
    case .refused: Chip.bad(Message("rejected"))
    case .withdrawn: Chip.off(Message("withdrawn"))
    case .expired: Chip.off(Message("expired"))
    case .overtaken: Chip.off(Message("superseded"))
    }
  }

  /// Returns the requested action, without names: `Remove all factors`.
  static func what(_ approval: Approval) -> Message {
    switch approval.kind {
    case .factor: Message("Remove factor")
    case .factors: Message("Remove all factors")
    case .policy: Message("Weaken MFA policy")
    case .job: BulkWords(approval.jobKind ?? .removal, approval.users).act
    }
  }

  static func place(_ pool: Pool) -> String {
    pool.tenant == nil ? pool.name : "\(pool.projectName) / \(pool.name)"
  }

  static func waiting(_ count: Int) -> Message {
    count >= Approvals.mostWaiting
      ? Message(
        one: "{count} or more approvals pending",
        other: "{count} or more approvals pending", ["count": .number(count)])
      : Message(
        one: "{count} approval pending", other: "{count} approvals pending",
        ["count": .number(count)])
  }
}

extension ApprovalObstacle {
  func sentence(_ name: String) -> Message {
    switch self {
    case .permissionLost: Message("{name} no longer has permission here.", ["name": .name(name)])
    case .accountOutOfReach:
      Message("{name} can no longer act on this account.", ["name": .name(name)])
    case .accountDeleted: Message("The account was deleted.")
    case .policyChanged: Message("The policy has changed since the request.")
    case .refusalNeedsEmail:
      Message("This server no longer sends email, which refused users need for an enrollment link.")
    case .listGone: Message("The list was deleted.")
    case .factorGone: Message("A factor was already removed.")
    case .factorEnrolled: Message("A factor was enrolled after the request.")
    case .poolDeleted: Message("The user pool was deleted.")
    }
  }
}
