import HTTP
import Identity
import Templating

/// `/projects/{p}` and `/projects/{p}/tenants/{t}`: what is on, who is enrolled, what changed.
struct OverviewPage: Sendable {
  let identity: Identity
  let frames: Frames
  let view: Template<OverviewView>

  private static let historyLength = 6

  func show(_ context: ScopeContext) async throws(Refusal) -> Response {
    let scope = context.scope
    let policy: Policy
    do {
      policy = try await identity.policies.read(scope)
    } catch {
      throw Refusal(error)
    }
    // Who may not read the audit log sees at least what happened to the policy.
    let history = try await refusing {
      context.may(.readAudit)
        ? try await identity.audit.list(AuditFilter(scope: scope), limit: Self.historyLength).items
        : try await identity.policies.history(scope, limit: Self.historyLength)
    }
    let facts = try await facts(scope, context.signedIn.times)
    let frame = try await frames.frame("Overview", in: context, tab: .overview)
    return .html(
      view.render(
        OverviewView(
          frame: frame, context: context, policy: policy, history: history, facts: facts)))
  }

  private func facts(_ scope: Scope, _ times: Times) async throws(Refusal) -> [Fact] {
    guard let id = scope.tenant else { return try await projectFacts(scope, times) }
    let tenant: Tenant
    do {
      tenant = try await identity.tenants.find(project: scope.project, tenant: id)
    } catch {
      guard case .unavailable = error else { throw .notFound }
      throw .unavailable(error)
    }
    return [
      Fact("Tenant id", Self.identifier(id.text)),
      Fact("Project id", Self.identifier(scope.project.text)),
      Fact("Sign-in", tenant.disableAuth ? "off for everybody" : tenant.signIn.words),
      Fact("Created", times.moment(tenant.createdAt)),
    ]
  }

  private func projectFacts(_ scope: Scope, _ times: Times) async throws(Refusal) -> [Fact] {
    let project: Project
    do {
      project = try await identity.projects.find(scope.project)
    } catch {
      guard case .unavailable = error else { throw .notFound }
      throw .unavailable(error)
    }
    let keys = try await refusing { try await identity.apiKeys.list(project.id) }
    return [
      Fact("Project id", Self.identifier(project.id.text)),
      Fact("Number", Self.identifier(String(project.number))),
    ]
      + keys.map { Fact("API key", Self.identifier($0.text)) } + [
        Fact("Sign-in", scope.isDisabled ? "off for everybody" : project.signIn.words),
        Fact("Created", times.moment(project.createdAt)),
      ]
  }

  private static func identifier(_ text: String) -> Markup {
    var html = HTML()
    html.raw("<span class=\"mono\" data-copy>")
    html.text(text)
    html.raw("</span>")
    return html.markup
  }
}

extension SignInMethods {
  /// The first factors that are on, in words.
  var words: String {
    let methods = [
      password ? "password" : nil, emailLink ? "e-mail link" : nil, anonymous ? "anonymous" : nil,
    ].compactMap { $0 }
    return methods.isEmpty ? "no method is on" : methods.joined(separator: ", ")
  }
}
