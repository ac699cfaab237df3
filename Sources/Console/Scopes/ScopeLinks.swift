import HTTP
import Identity
import Localization

extension ScopeContext {
  /// The links to further pages of the scope.
  var links: [Link] {
    var links = [
      Link(text: Message("scopes.guidance"), href: ConsolePaths.scopeGuidance(scope))
    ]
    if may(.findUsers) {
      links.append(Link(text: Message("scopes.messages"), href: ConsolePaths.outbox(scope)))
    }
    links.append(
      Link(text: Message("scopes.support-rules"), href: ConsolePaths.supportRules(scope)))
    links.append(
      Link(text: Message("providers.identity-providers"), href: ConsolePaths.providers(scope)))
    if scope.tenant == nil {
      links.append(
        Link(
          text: Message("scopes.custom-token-keys"),
          href: ConsolePaths.signers(scope.project.text)))
    }
    if may(.readAudit) {
      let kind = scope.tenant == nil ? "project" : "tenant"
      let query: Form = ["kind": kind, "object": scope.objectID]
      links.append(
        Link(
          text: Message("scopes.settings-history"),
          href: query.query(of: ConsolePaths.audit(scope))))
    }
    return links
  }
}
