import HTTP
import Identity

extension ScopeContext {
  /// The links to further pages of the scope.
  var links: [Link] {
    var links = [Link(text: "Guidance for support", href: ConsolePaths.scopeGuidance(scope))]
    if may(.findUsers) { links.append(Link(text: "Messages", href: ConsolePaths.outbox(scope))) }
    links.append(Link(text: "Support rules", href: ConsolePaths.supportRules(scope)))
    links.append(Link(text: "Identity providers", href: ConsolePaths.providers(scope)))
    if scope.tenant == nil {
      links.append(
        Link(text: "Custom token signing keys", href: ConsolePaths.signers(scope.project.text)))
    }
    if may(.readAudit) {
      let kind = scope.tenant == nil ? "project" : "tenant"
      let query: Form = ["kind": kind, "object": scope.objectID]
      links.append(
        Link(text: "Settings history", href: query.query(of: ConsolePaths.audit(scope))))
    }
    return links
  }
}
