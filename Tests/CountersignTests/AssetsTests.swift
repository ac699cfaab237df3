import Foundation
import Testing

@testable import countersign

struct AssetsTests {
  @Test func `guides are in the language of the page, or in English if they aren't translated`()
    async throws
  {
    try await withFolder { folder in
      for name in ["Templates/guides/en", "Templates/guides/pt-BR", "Public"] {
        try FileManager.default.createDirectory(
          atPath: "\(folder)/\(name)", withIntermediateDirectories: true)
      }
      let assets = Assets(folder: folder)
      #expect(assets.problems.isEmpty)
      #expect(assets.guides(in: "pt-BR") == "\(folder)/Templates/guides/pt-BR")
      #expect(assets.guides(in: "de") == "\(folder)/Templates/guides/en")
    }
  }
}
