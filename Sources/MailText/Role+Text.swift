public import Identity
public import Localization

extension Role {
  /// The role's display name, such as “policy admin”.
  public var name: Message {
    switch self {
    case .owner: Message("common.role-owner")
    case .policy: Message("common.role-policy")
    case .support: Message("common.role-support")
    case .auditor: Message("common.role-auditor")
    }
  }
}

extension Grant {
  /// The scope of the role: `the instance`, `acme-retail`, `acme-retail / eu-shop-1a2b3`.
  public var placeInWords: Message {
    guard let project else { return Message("common.the-instance") }
    guard let tenant else { return .verbatim(project.text) }
    return .verbatim("\(project.text) / \(tenant.text)")
  }
}
