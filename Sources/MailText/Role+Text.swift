public import Identity
public import Localization

public struct RoleText: Sendable {
  /// The name within a line: “policy admin”.
  public let name: Message
  /// The name at the start of a line: “Policy admin”.
  public let title: Message
  /// Who has the role: “policy admin”.
  public let noun: Message
  /// One of them: “a policy admin”.
  public let one: Message
  public let startingOne: Message
  /// All of them: “policy admins”.
  public let many: Message
  public let startingMany: Message
  public let summary: Message

  public static func of(_ role: Role) -> RoleText {
    switch role {
    case .owner: owner
    case .policy: policy
    case .support: support
    case .auditor: auditor
    }
  }

  private static let owner = RoleText(
    name: Message("common.role-owner"),
    title: Message("common.role-owner-title"),
    noun: Message("common.role-owner"), one: Message("common.role-owner-one"),
    startingOne: Message("common.role-owner-one-starting"),
    many: Message("common.role-owner-many"),
    startingMany: Message("common.role-owner-many-starting"),
    summary: Message("common.role-owner-summary"))
  private static let policy = RoleText(
    name: Message("common.role-policy"),
    title: Message("common.role-policy-title"),
    noun: Message("common.role-policy"), one: Message("common.role-policy-one"),
    startingOne: Message("common.role-policy-one-starting"),
    many: Message("common.role-policy-many"),
    startingMany: Message("common.role-policy-many-starting"),
    summary: Message("common.role-policy-summary"))
  private static let support = RoleText(
    name: Message("common.role-support"),
    title: Message("common.role-support-title"),
    noun: Message("common.role-support-noun"), one: Message("common.role-support-one"),
    startingOne: Message("common.role-support-one-starting"),
    many: Message("common.role-support-many"),
    startingMany: Message("common.role-support-many-starting"),
    summary: Message("common.role-support-summary"))
  private static let auditor = RoleText(
    name: Message("common.role-auditor"),
    title: Message("common.role-auditor-title"),
    noun: Message("common.role-auditor"), one: Message("common.role-auditor-one"),
    startingOne: Message("common.role-auditor-one-starting"),
    many: Message("common.role-auditor-many"),
    startingMany: Message("common.role-auditor-many-starting"),
    summary: Message("common.role-auditor-summary"))
}

extension Role {
  public var name: Message { RoleText.of(self).name }
}

extension Grant {
  /// The scope of the role: `the instance`, `acme-retail`, `acme-retail / eu-shop-1a2b3`.
  public var placeText: Message {
    guard let project else { return Message("common.the-instance") }
    guard let tenant else { return .verbatim(project.text) }
    return .verbatim("\(project.text) / \(tenant.text)")
  }
}
