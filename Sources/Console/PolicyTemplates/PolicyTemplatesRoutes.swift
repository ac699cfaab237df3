import HTTP
import Identity

/// Named policies of a project.
enum PolicyTemplatesRoutes: ConsoleFeature {
  static func addRoutes(to table: inout RouteTable, _ parts: ConsoleParts) throws {
    let list = PolicyTemplatesPage(
      identity: parts.identity, actions: parts.actions,
      view: try parts.template("policy-templates/list", for: PolicyTemplatesView.self))
    table.inProject(.get, ConsolePaths.policyTemplates, .readPolicy, list.show)
    table.inProject(
      ConsolePaths.policyTemplates, performing: [.createPolicyTemplate], list.create)
    let page = PolicyTemplatePage(
      identity: parts.identity, actions: parts.actions,
      view: try parts.template("policy-templates/template", for: PolicyTemplateView.self))
    table.inProject(.get, ConsolePaths.policyTemplate, .changePolicy, page.show)
    table.inProject(
      ConsolePaths.policyTemplateApplication, performing: [.changePolicy, .weakenPolicy],
      page.apply)
    table.inProject(
      .get, ConsolePaths.policyTemplateRemoval, .changePolicy, list.confirmDeletion)
    table.inProject(
      ConsolePaths.policyTemplateRemoval, performing: [.deletePolicyTemplate], list.delete)
  }
}

extension ConsolePaths {
  static let policyTemplates = Path("projects", nil, "policy-templates", parameters: String.self)
  static let policyTemplate = Path(
    "projects", nil, "policy-templates", nil, parameters: String.self, String.self)
  static let policyTemplateRemoval = Path(
    "projects", nil, "policy-templates", nil, "removal", parameters: String.self, String.self)
  static let policyTemplateApplication = Path(
    "projects", nil, "policy-templates", nil, "application", parameters: String.self, String.self)
}
