import HTTP
import Identity
import Localization
import Templating

/// `/projects/{p}/tenants`: lists the tenants of a project with their policies.
struct TenantsPage: Sendable {
  let identity: Identity
  let frames: Frames
  let view: Template<TenantsView>
  let row: Template<TenantRow>
  let rows = MarkupCache<TenantRow.Source>()

  private static let length = 50

  func show(_ context: ProjectContext) async throws(Refusal) -> Response {
    let signedIn = context.signedIn
    let query = signedIn.query.trimmed("q")
    let after = signedIn.query.text("after")
    let page = try await refusing {
      try await identity.pools.tenantSummaries(
        project: context.scope.project, visibleTo: signedIn.administrator,
        search: query.isEmpty ? nil : query, after: after, limit: Self.length)
    }
    let trends = try await identity.activity.trends(
      of: page.items.map(\.key), at: identity.clock.now())
    let frame = try await frames.frame(Message("tenants.title"), in: context)
    let project = context.scope.project
    let times = signedIn.times
    let administrator = signedIn.administrator
    let mayChangeAll = administrator.may(.changePolicy, in: context.scope)
    let rows = rows.joined(
      page.items.map { tenant in
        TenantRow.Source(
          project: project, tenant: tenant,
          mayChange: mayChangeAll
            || administrator.may(.changePolicy, project: project, tenant: tenant.id),
          trend: trends[tenant.key] ?? EnrollmentTrend(), times: times)
      }
    ) {
      row.render(TenantRow($0))
    }
    return .html(
      view.render(
        TenantsView(
          frame: frame, scope: context.scope, page: page, rows: rows, query: query,
          after: after,
          mayCreate: signedIn.administrator.may(.manageTenants, in: context.scope))))
  }
}
