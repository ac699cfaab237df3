import Identity
import Localization

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
