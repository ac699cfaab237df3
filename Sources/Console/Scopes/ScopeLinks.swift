import HTTP
import Identity

extension ScopeContext {
  /// Where more is said about the scope: to its desk, and in the audit log.
  var links: [Link] {
    var links = [Link(text: "Guidance for support", href: ConsolePaths.scopeGuidance(scope))]
    if may(.findUsers) { links.append(Link(text: "Outbox", href: ConsolePaths.outbox(scope))) }
    links.append(Link(text: "Rules of the desk", href: ConsolePaths.supportRules(scope)))
    links.append(Link(text: "Identity providers", href: ConsolePaths.providers(scope)))
    if scope.tenant == nil {
      links.append(
        Link(text: "Keys for custom tokens", href: ConsolePaths.signers(scope.project.text)))
    }
    if may(.readAudit) {
      let kind = scope.tenant == nil ? "project" : "tenant"
      let query: Form = ["kind": kind, "object": scope.tenant?.text ?? scope.project.text]
      links.append(
        Link(text: "What changed its settings", href: query.query(of: ConsolePaths.audit(scope))))
    }
    return links
  }
}
