import Foundation
import Testing

@testable import countersign

struct AssetsTests {
  @Test func `guides are in the language of the page, or in English if they aren't translated`()
    async throws
  {
    try await withFolder { folder in
      for name in ["Templates/guidance/en", "Templates/guidance/pt-BR", "Public"] {
        try FileManager.default.createDirectory(
          atPath: "\(folder)/\(name)", withIntermediateDirectories: true)
      }
      let assets = Assets(folder: folder)
      #expect(assets.problems.isEmpty)
      #expect(assets.guidance(in: "pt-BR") == "\(folder)/Templates/guidance/pt-BR")
      #expect(assets.guidance(in: "de") == "\(folder)/Templates/guidance/en")
    }
  }
}
