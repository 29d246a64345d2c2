// The peer that is candle: token ids in, vectors out, one JSON line each way (../README.md).
//   candle_peer MODEL THREADS               answers requests on standard input
//   candle_peer --tokenizer tokenizer.json  prints the seconds the tokenizers crate takes to read it
use std::io::{BufRead, Write};
use std::time::Instant;

use candle_core::{DType, Device, Error, Result, Tensor, D};
use candle_nn::VarBuilder;
use candle_transformers::models::bert::{BertModel, Config};
use serde_json::{json, Value};

fn load(folder: &str) -> Result<BertModel> {
    let text = std::fs::read_to_string(format!("{folder}/config.json"))?;
    let config: Config = serde_json::from_str(&text).map_err(Error::wrap)?;
    let weights = [format!("{folder}/model.safetensors")];
    // The file is mapped, as candle's own examples do it; nothing writes to it meanwhile.
    let weights = unsafe { VarBuilder::from_mmaped_safetensors(&weights, DType::F32, &Device::Cpu)? };
    BertModel::load(weights, &config)
}

// Mean over the tokens, then L2; padded to the longest text, with a mask if any is shorter.
fn embed(model: &BertModel, texts: &[Vec<u32>]) -> Result<Vec<f32>> {
    let longest = texts.iter().map(Vec::len).max().unwrap_or(0);
    let shape = (texts.len(), longest);
    let mut ids = vec![0u32; texts.len() * longest];
    let mut mask = vec![0f32; texts.len() * longest];
    for (row, text) in texts.iter().enumerate() {
        ids[row * longest..][..text.len()].copy_from_slice(text);
        mask[row * longest..][..text.len()].fill(1.0);
    }
    let ids = Tensor::from_vec(ids, shape, &Device::Cpu)?;
    let types = ids.zeros_like()?;
    let sum = if texts.iter().all(|text| text.len() == longest) {
        model.forward(&ids, &types, None)?.sum(1)?
    } else {
        let mask = Tensor::from_vec(mask, shape, &Device::Cpu)?;
        let hidden = model.forward(&ids, &types, Some(&mask))?;
        hidden.broadcast_mul(&mask.unsqueeze(D::Minus1)?)?.sum(1)?
    };
    let counts: Vec<f32> = texts.iter().map(|text| text.len() as f32).collect();
    let mean = sum.broadcast_div(&Tensor::from_vec(counts, (texts.len(), 1), &Device::Cpu)?)?;
    let length = mean.sqr()?.sum_keepdim(1)?.sqrt()?;
    mean.broadcast_div(&length)?.flatten_all()?.to_vec1()
}

fn answer(model: &BertModel, line: &str) -> std::result::Result<Value, Box<dyn std::error::Error>> {
    let request: Value = serde_json::from_str(line)?;
    let batches: Vec<Vec<Vec<u32>>> = serde_json::from_value(request["batches"].clone())?;
    let repeat = request["repeat"].as_u64().unwrap_or(1);
    let wanted = request["seconds"].as_f64().unwrap_or(0.0);
    let mut seconds: Vec<f64> = vec![];
    let mut vectors = vec![];
    while (seconds.len() as u64) < repeat || seconds.iter().sum::<f64>() < wanted {
        vectors.clear();
        let start = Instant::now();
        for batch in &batches {
            vectors.extend(embed(model, batch)?);
        }
        seconds.push(start.elapsed().as_secs_f64());
    }
    let mut reply = json!({ "seconds": seconds });
    if request["vectors"].as_bool().unwrap_or(false) {
        let bytes = vectors.iter().flat_map(|value| value.to_le_bytes());
        reply["vectors"] = bytes.map(|byte| format!("{byte:02x}")).collect::<String>().into();
    }
    Ok(reply)
}

fn serve(folder: &str) -> std::result::Result<(), Box<dyn std::error::Error>> {
    let model = load(folder)?;
    println!("{}", json!({ "ready": true }));
    for line in std::io::stdin().lock().lines() {
        let reply = answer(&model, &line?).unwrap_or_else(|error| json!({ "error": error.to_string() }));
        println!("{reply}");
        std::io::stdout().flush()?;
    }
    Ok(())
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    if arguments.len() != 3 {
        eprintln!("usage: candle_peer MODEL THREADS, or candle_peer --tokenizer FILE");
        std::process::exit(2);
    }
    if arguments[1] == "--tokenizer" {
        let start = Instant::now();
        let tokenizer = tokenizers::Tokenizer::from_file(&arguments[2]).expect("a tokenizer.json");
        let seconds = start.elapsed().as_secs_f64();
        println!("{}", json!({ "seconds": seconds, "words": tokenizer.get_vocab_size(true) }));
        return;
    }
    // Before the first use of rayon's and gemm's threads, which read it.
    std::env::set_var("RAYON_NUM_THREADS", &arguments[2]);
    if let Err(error) = serve(&arguments[1]) {
        println!("{}", json!({ "error": error.to_string() }));
        std::process::exit(1);
    }
}
